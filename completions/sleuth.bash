# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion for bash.  Options, built-in models, layers, operations and topics
# are asked of the program itself, so that this file needs no change when they
# do; after "--" words are commands and files.

# Built-in models that are a name alone.
_sleuth_models() {
	"$1" zoo --quiet --csv /dev/stdout 2>/dev/null |
		sed -n '2,$s/^\([a-z0-9@-]*\),.*/\1/p'
}

# Layers of the model that the line names first.
_sleuth_layers() {
	local model
	for model in "${COMP_WORDS[@]:2}"; do
		[[ $model == -* ]] && continue
		"${COMP_WORDS[0]}" inspect "$model" --quiet --csv /dev/stdout \
			2>/dev/null | sed -n '2,$s/^[^,]*,\([^,"]*\),.*/\1/p'
		return
	done
}

# Commands and topics that `sleuth help` explains.
_sleuth_topics() {
	"$1" help topics 2>/dev/null |
		sed -n 's/^  sleuth help \([a-z-]*\).*/\1/p'
}

# How many words that are no options stand before this one.
_sleuth_n_words() {
	local i n=0
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || ((n++))
	done
	echo "$n"
}

# A word that is no option: models where the command takes them, else files.
_sleuth_words() {
	local choices='' files=1
	case ${COMP_WORDS[1]} in
	inspect | run | profile | train | eval | generate | load | optimize | overhead | watch | compare | fit | sweep)
		choices=$(_sleuth_models "${COMP_WORDS[0]}")
		;;
	extract)
		case $(_sleuth_n_words) in
		0) choices=$(_sleuth_models "${COMP_WORDS[0]}") ;;
		1) choices=$(_sleuth_layers) files='' ;;
		esac
		;;
	microbench) choices=$("${COMP_WORDS[0]}" microbench 2>/dev/null) files='' ;;
	zoo)
		files=''
		if ((COMP_CWORD == 2)); then
			choices='export'
		elif ((COMP_CWORD == 3)); then
			choices=$(_sleuth_models "${COMP_WORDS[0]}")
		fi
		;;
	esac
	[[ $choices ]] || return
	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
	[[ $files ]] || return
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
}

_sleuth() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local choices='inspect run profile train eval generate load microbench optimize overhead watch sweep extract fit bench compare report show history gate suite serve store machine zoo selfcheck help' i

	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
			return
		fi
	done
	if ((COMP_CWORD == 1)); then
		choices+=' --help --version'
	elif [[ ${COMP_WORDS[1]} == help ]]; then
		choices+=" topics $(_sleuth_topics "${COMP_WORDS[0]}")"
		[[ ${COMP_WORDS[2]} == quiz ]] && ((COMP_CWORD > 2)) && choices='--answer'
	else
		case ${COMP_WORDS[1]}$before in
		*--color) choices='auto always never' ;;
		*--sort) choices='command mean-time' ;;
		*--style) choices='full basic none' ;;
		*-u | *--time-unit) choices='ns us ms s' ;;
		inspect--by) choices='layer type depth' ;;
		profile--by) choices='layer type module part' ;;
		inspect--explain) choices='core torch fvcore thop all core_causal' ;;
		inspect--on) choices='all' ;;
		*--layer) choices=$(_sleuth_layers) ;;
		*--axis) choices='batch seq' ;;
		*--dtype | *--b-dtype) choices='f32 bf16' ;;
		*--isa) choices='scalar sse4 avx2 avx512 amx' ;;
		*--algorithms) choices='measured fixed' ;;
		*--nan) choices='keep refuse' ;;
		fit--train | inspect--train | *--optimizer) choices='sgd momentum adam adamw' ;;
		*--loss) choices='cross-entropy nll mse bce' ;;
		*)
			if [[ $word != -* ]]; then
				_sleuth_words
				return
			fi
			choices=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help \
				2>/dev/null |
				sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p')
			;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o default -F _sleuth sleuth
