# SPDX-License-Identifier: Apache-2.0
# Completion for fish.  Options are asked of the program itself, so that this
# file needs no change when they do, and so are the built-in models; after "--"
# words are commands and files.

function __sleuth_options
    set -l words (commandline -opc)
    # The explanation starts in the 34th column, or on a line of its own.
    sleuth $words[2] --help 2>/dev/null | awk '/^  (-., |    )--/ {
        name = substr($0, 7); sub(/[^a-z-].*/, "", name)
        text = substr($0, 33, 1) == " " ? substr($0, 34) : ""
        print name "\t" text }'
end

# Built-in models that are a name alone.
function __sleuth_models
    sleuth zoo --quiet --csv /dev/stdout 2>/dev/null |
        sed -n '2,$s/^\([a-z0-9@-]*\),.*/\1/p'
end

function __sleuth_in_options
    set -l words (commandline -opc)
    test (count $words) -gt 1; and not contains -- -- $words
end

set -l commands inspect run profile generate microbench overhead sweep extract fit bench compare report machine zoo selfcheck help
complete -c sleuth -n __fish_use_subcommand -a inspect -d 'What a model holds and needs'
complete -c sleuth -n __fish_use_subcommand -a run -d 'Run a model once'
complete -c sleuth -n __fish_use_subcommand -a profile -d 'Where the time goes, and why'
complete -c sleuth -n __fish_use_subcommand -a generate -d "A decoder's token loop"
complete -c sleuth -n __fish_use_subcommand -f -a microbench -d 'One operation over sizes'
complete -c sleuth -n __fish_use_subcommand -a overhead -d 'What observing costs'
complete -c sleuth -n __fish_use_subcommand -a extract -d 'One layer as a model of its own'
complete -c sleuth -n __fish_use_subcommand -a sweep -d 'What grows how over a size'
complete -c sleuth -n __fish_use_subcommand -a fit -d 'What batch memory holds'
complete -c sleuth -n '__fish_seen_subcommand_from inspect run profile generate overhead extract fit sweep' -a '(__sleuth_models)'
complete -c sleuth -n __fish_use_subcommand -f -a bench -d 'Time commands'
complete -c sleuth -n __fish_use_subcommand -f -a compare -d 'Is B slower than A?'
complete -c sleuth -n __fish_use_subcommand -a report -d 'Render a saved result'
complete -c sleuth -n __fish_use_subcommand -f -a machine -d 'Measure this computer'
complete -c sleuth -n __fish_use_subcommand -f -a zoo -d 'List or export built-in models'
complete -c sleuth -n '__fish_seen_subcommand_from zoo' -f -a export
complete -c sleuth -n '__fish_seen_subcommand_from export' -a '(__sleuth_models)'
complete -c sleuth -n __fish_use_subcommand -f -a selfcheck -d 'Measure Sleuth itself'
complete -c sleuth -n __fish_use_subcommand -f -a help -d 'List the commands'
complete -c sleuth -n '__fish_seen_subcommand_from help' -f -a "$commands"
complete -c sleuth -n __sleuth_in_options -a '(__sleuth_options)'
