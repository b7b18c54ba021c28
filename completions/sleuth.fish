# SPDX-License-Identifier: Apache-2.0
# Completion for fish.  Options, built-in models, layers, operations and topics
# are asked of the program itself, so that this file needs no change when they
# do; after "--" words are commands and files.

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

# Layers of the model that the line names first.
function __sleuth_layers
    set -l words (commandline -opc)
    for model in $words[3..-1]
        string match -q -- '-*' $model; and continue
        sleuth inspect $model --quiet --csv /dev/stdout 2>/dev/null |
            sed -n '2,$s/^[^,]*,\([^,"]*\),.*/\1/p'
        return
    end
end

function __sleuth_topics
    sleuth help topics 2>/dev/null |
        sed -n 's/^  sleuth help \([a-z-]*\).*/\1/p'
end

function __sleuth_in_options
    set -l words (commandline -opc)
    test (count $words) -gt 1; and not contains -- -- $words
end

set -l commands inspect run profile train eval generate load microbench optimize overhead watch sweep extract fit bench compare report show history gate suite serve store machine zoo selfcheck help
complete -c sleuth -n __fish_use_subcommand -a inspect -d 'What a model holds and needs'
complete -c sleuth -n __fish_use_subcommand -a run -d 'Run a model once'
complete -c sleuth -n __fish_use_subcommand -a profile -d 'Where the time goes, and why'
complete -c sleuth -n __fish_use_subcommand -a train -d "Train a model on data and save it"
complete -c sleuth -n __fish_use_subcommand -a eval -d "Accuracy on a data set"
complete -c sleuth -n __fish_use_subcommand -a generate -d "A decoder's token loop"
complete -c sleuth -n __fish_use_subcommand -a load -d 'Does a latency limit hold?'
complete -c sleuth -n __fish_use_subcommand -f -a microbench -d 'One operation over sizes'
complete -c sleuth -n __fish_use_subcommand -a optimize -d 'What changes of a model are worth'
complete -c sleuth -n __fish_use_subcommand -a overhead -d 'What observing costs'
complete -c sleuth -n __fish_use_subcommand -a watch -d 'A short profile over and over'
complete -c sleuth -n __fish_use_subcommand -a extract -d 'One layer as a model of its own'
complete -c sleuth -n __fish_use_subcommand -a sweep -d 'What grows how over a size'
complete -c sleuth -n __fish_use_subcommand -a fit -d 'What batch memory holds'
complete -c sleuth -n '__fish_seen_subcommand_from inspect run profile train eval generate load optimize overhead watch compare extract fit sweep' -a '(__sleuth_models)'
complete -c sleuth -n __fish_use_subcommand -f -a bench -d 'Time commands'
complete -c sleuth -n __fish_use_subcommand -f -a compare -d 'Is B slower than A?'
complete -c sleuth -n __fish_use_subcommand -a report -d 'Render a saved result'
complete -c sleuth -n __fish_use_subcommand -a show -d 'Results kept with --save'
complete -c sleuth -n __fish_use_subcommand -a history -d 'Times of a model over results'
complete -c sleuth -n __fish_use_subcommand -a gate -d 'A result against a baseline'
complete -c sleuth -n __fish_use_subcommand -a suite -d 'A described set of benchmarks'
complete -c sleuth -n __fish_use_subcommand -a serve -d 'Kept results over HTTP'
complete -c sleuth -n __fish_use_subcommand -a store -d 'Export, import and delete results'
complete -c sleuth -n __fish_use_subcommand -f -a machine -d 'Measure this computer'
complete -c sleuth -n __fish_use_subcommand -f -a zoo -d 'List or export built-in models'
complete -c sleuth -n '__fish_seen_subcommand_from zoo' -f -a export
complete -c sleuth -n '__fish_seen_subcommand_from export' -a '(__sleuth_models)'
complete -c sleuth -n __fish_use_subcommand -f -a selfcheck -d 'Measure Sleuth itself'
complete -c sleuth -n __fish_use_subcommand -f -a help -d 'List the commands'
complete -c sleuth -n '__fish_seen_subcommand_from help' -f -a "$commands topics (__sleuth_topics)"
complete -c sleuth -n '__fish_seen_subcommand_from microbench' -f -a '(sleuth microbench 2>/dev/null)'
complete -c sleuth -n '__fish_seen_subcommand_from extract' -a '(__sleuth_layers)'
complete -c sleuth -n '__fish_seen_subcommand_from profile' -l layer -x -a '(__sleuth_layers)'
complete -c sleuth -n '__fish_seen_subcommand_from inspect' -l by -x -a 'layer type depth'
complete -c sleuth -n '__fish_seen_subcommand_from profile' -l by -x -a 'layer type module part'
complete -c sleuth -n '__fish_seen_subcommand_from inspect' -l explain -x -a 'core torch fvcore thop all core_causal'
complete -c sleuth -n '__fish_seen_subcommand_from fit' -l axis -x -a 'batch seq'
complete -c sleuth -n __sleuth_in_options -l dtype -x -a 'f32 bf16'
complete -c sleuth -n __sleuth_in_options -l b-dtype -x -a 'f32 bf16'
complete -c sleuth -n __sleuth_in_options -l isa -x -a 'scalar sse4 avx2 avx512 amx'
complete -c sleuth -n __sleuth_in_options -l algorithms -x -a 'measured fixed'
complete -c sleuth -n __sleuth_in_options -l nan -x -a 'keep refuse'
complete -c sleuth -n '__fish_seen_subcommand_from fit inspect' -l train -x -a 'sgd momentum adam adamw'
complete -c sleuth -n '__fish_seen_subcommand_from profile' -l train -d 'a training step'
complete -c sleuth -n '__fish_seen_subcommand_from profile' -l optimizer -x -a 'sgd momentum adam adamw'
complete -c sleuth -n '__fish_seen_subcommand_from profile' -l loss -x -a 'cross-entropy nll mse bce'
complete -c sleuth -n __sleuth_in_options -l sort -x -a 'command mean-time'
complete -c sleuth -n __sleuth_in_options -l style -x -a 'full basic none'
complete -c sleuth -n __sleuth_in_options -s u -l time-unit -x -a 'ns us ms s'
complete -c sleuth -n '__fish_seen_subcommand_from inspect' -l on -r -a all
complete -c sleuth -n __sleuth_in_options -l color -x -a 'auto always never'
complete -c sleuth -n __sleuth_in_options -a '(__sleuth_options)'
