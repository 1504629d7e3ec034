//! The wrappers of PowerShell and nushell. Neither text has been tried in its shell: they were written from the
//! languages' references and are held by snapshots only. `super::init` calls it.

use super::{Shell, quote};

/// PowerShell runs the post commands as its own language, in the caller's scope where `$env:` is concerned. `-cmatch`
/// with `(?m)` finds the marker as a whole line.
const PWSH: &str = r#"# ez, the shell function: Invoke-Expression (& ez init-shell pwsh | Out-String)
# Not tried in a real PowerShell yet.
function ez {
    $__ez_bin = @EZ@
    $__ez_given = $false
    foreach ($__ez_arg in $args) {
        if ("$__ez_arg" -ceq '--') { break }
        if ("$__ez_arg" -cmatch '^(-a?r|--repo$|--repo=)') { $__ez_given = $true; break }
    }
    $__ez_repo = @()
    do {
        $__ez_again = $false
        $__ez_dir = Join-Path ([IO.Path]::GetTempPath()) ('ez.' + [IO.Path]::GetRandomFileName())
        $null = [IO.Directory]::CreateDirectory($__ez_dir)
        $__ez_cd = ''
        $__ez_post = ''
        try {
            & $__ez_bin '--shell=pwsh' "--cd-file=$__ez_dir/cd" "--post-cmd-file=$__ez_dir/post" @__ez_repo @args
            $__ez_status = $LASTEXITCODE
            if (Test-Path -LiteralPath "$__ez_dir/cd") { $__ez_cd = [IO.File]::ReadAllText("$__ez_dir/cd") }
            if (Test-Path -LiteralPath "$__ez_dir/post") { $__ez_post = [IO.File]::ReadAllText("$__ez_dir/post") }
        } finally {
            [IO.Directory]::Delete($__ez_dir, $true)
        }
        $__ez_repo = @()
        if ($__ez_post -cmatch '(?m)^#EZ_RELAUNCH\r?$') {
            $__ez_again = $true
            if (-not $__ez_given -and $__ez_cd) { $__ez_repo = @("--repo=$__ez_cd") }
        }
        if ($__ez_cd -and -not (Test-Path -LiteralPath $PWD.ProviderPath -PathType Container)) {
            Microsoft.PowerShell.Management\Set-Location -LiteralPath $__ez_cd
            $__ez_cd = ''
        }
        if ($__ez_post) {
            try { & { Microsoft.PowerShell.Utility\Invoke-Expression $args[0] } $__ez_post }
            catch { Write-Error $_ }
        }
    } while ($__ez_again)
    if ($__ez_cd) { Microsoft.PowerShell.Management\Set-Location -LiteralPath $__ez_cd }
    $global:LASTEXITCODE = $__ez_status
}
"#;

/// nushell cannot run text, so variables come as data (a line of JSON that `sh` takes for a comment, see
/// `super::exports`) and the post commands go to `sh` on the terminal.
const NU: &str = r#"# ez, the shell function: ez init-shell nu | save -f ez.nu; then `source ez.nu` in config.nu
# Not tried in a real nushell yet.
def --env --wrapped ez [...args: string] {
    let bin = @EZ@
    let given = ($args | take while {|arg| $arg != '--' } | any {|arg| $arg =~ '^(-a?r|--repo$|--repo=)' })
    mut repo = []
    mut status = 0
    mut target = ''
    mut again = true
    while $again {
        $again = false
        let dir = (mktemp --directory --tmpdir 'ez.XXXXXXXX')
        let extra = $repo
        try { ^$bin '--shell=nu' $'--cd-file=($dir)/cd' $'--post-cmd-file=($dir)/post' ...$extra ...$args }
        $status = $env.LAST_EXIT_CODE
        $target = (if ($'($dir)/cd' | path exists) { open --raw $'($dir)/cd' | decode utf-8 } else { '' })
        let post = (if ($'($dir)/post' | path exists) { open --raw $'($dir)/post' | decode utf-8 } else { '' })
        rm --recursive --force $dir
        $repo = []
        if ('#EZ_RELAUNCH' in ($post | lines)) {
            $again = true
            if (not $given) and ($target != '') { $repo = [$'--repo=($target)'] }
        }
        if ($target != '') and (not ($env.PWD | path exists)) {
            cd $target
            $target = ''
        }
        for line in ($post | lines | where {|line| $line | str starts-with '#EZ_ENV ' }) {
            let change = ($line | str substring 8.. | from json)
            for name in $change.unset {
                let saved = $'EZ_SAVED_($name)'
                let added = $'EZ_ADDED_($name)'
                if $saved in $env {
                    load-env {($name): ($env | get $saved)}
                    hide-env $saved
                } else if $added in $env {
                    hide-env --ignore-errors $name
                    hide-env $added
                }
            }
            for pair in ($change.set | transpose name value) {
                if not (($'EZ_SAVED_($pair.name)' in $env) or ($'EZ_ADDED_($pair.name)' in $env)) {
                    if $pair.name in $env {
                        load-env {($'EZ_SAVED_($pair.name)'): ($env | get $pair.name)}
                    } else {
                        load-env {($'EZ_ADDED_($pair.name)'): '1'}
                    }
                }
                load-env {($pair.name): $pair.value}
            }
        }
        if ($post | lines | any {|line| ($line != '') and (not ($line | str starts-with '#EZ_')) }) {
            try { ^sh -c $post }
        }
        if $again { $target = '' }
    }
    if $target != '' { cd $target }
    $env.LAST_EXIT_CODE = $status
}
"#;

/// The wrapper for PowerShell.
pub(super) fn pwsh(ez: &str) -> String {
    PWSH.replace("@EZ@", &quote(Shell::Pwsh, ez))
}

/// The wrapper for nushell.
pub(super) fn nu(ez: &str) -> String {
    NU.replace("@EZ@", &quote(Shell::Nu, ez))
}
