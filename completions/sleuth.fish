# SPDX-License-Identifier: Apache-2.0
# Completion for fish.  Options are asked of the program itself, so that this
# file needs no change when they do; after "--" words are commands and files.

function __sleuth_options
    set -l words (commandline -opc)
    # The explanation starts in the 34th column, or on a line of its own.
    sleuth $words[2] --help 2>/dev/null | awk '/^  (-., |    )--/ {
        name = substr($0, 7); sub(/[^a-z-].*/, "", name)
        text = substr($0, 33, 1) == " " ? substr($0, 34) : ""
        print name "\t" text }'
end

function __sleuth_in_options
    set -l words (commandline -opc)
    test (count $words) -gt 1; and not contains -- -- $words
end

set -l commands inspect bench compare machine zoo selfcheck help
complete -c sleuth -n __fish_use_subcommand -a inspect -d 'What a model holds and needs'
complete -c sleuth -n __fish_use_subcommand -f -a bench -d 'Time commands'
complete -c sleuth -n __fish_use_subcommand -f -a compare -d 'Is B slower than A?'
complete -c sleuth -n __fish_use_subcommand -f -a machine -d 'Measure this computer'
complete -c sleuth -n __fish_use_subcommand -f -a zoo -d 'List or export built-in models'
complete -c sleuth -n '__fish_seen_subcommand_from zoo' -f -a export
complete -c sleuth -n __fish_use_subcommand -f -a selfcheck -d 'Measure Sleuth itself'
complete -c sleuth -n __fish_use_subcommand -f -a help -d 'List the commands'
complete -c sleuth -n '__fish_seen_subcommand_from help' -f -a "$commands"
complete -c sleuth -n __sleuth_in_options -a '(__sleuth_options)'
