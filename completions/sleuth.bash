# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion for bash.  Options are asked of the program itself, so that this
# file needs no change when they do, and so are the built-in models; after "--"
# words are commands and files.

# Built-in models that are a name alone.
_sleuth_models() {
	"$1" zoo --quiet --csv /dev/stdout 2>/dev/null |
		sed -n '2,$s/^\([a-z0-9@-]*\),.*/\1/p'
}

# A word that is no option: models where the command takes them, else files.
_sleuth_words() {
	local choices=
	case ${COMP_WORDS[1]} in
	inspect | run | profile | generate | overhead | compare | extract | fit | sweep) choices=$(_sleuth_models "${COMP_WORDS[0]}") ;;
	zoo)
		if ((COMP_CWORD == 2)); then
			choices='export'
		elif ((COMP_CWORD == 3)); then
			choices=$(_sleuth_models "${COMP_WORDS[0]}")
		fi
		;;
	esac
	[[ $choices ]] || return
	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
	[[ ${COMP_WORDS[1]} == zoo ]] && return
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
}

_sleuth() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local choices='inspect run profile generate microbench overhead sweep extract fit bench compare report machine zoo selfcheck help' i

	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
			return
		fi
	done
	if ((COMP_CWORD == 1)); then
		choices+=' --help --version'
	elif [[ ${COMP_WORDS[1]} != help ]]; then
		case $before in
		--color) choices='auto always never' ;;
		--sort) choices='command mean-time' ;;
		--style) choices='full basic none' ;;
		-u | --time-unit) choices='ns us ms s' ;;
		--by)
			choices='layer type depth'
			[[ ${COMP_WORDS[1]} == profile ]] &&
				choices='layer type module part'
			;;
		--axis) choices='batch seq' ;;
		--dtype | --b-dtype) choices='f32 bf16' ;;
		--algorithms) choices='measured fixed' ;;
		--nan) choices='keep refuse' ;;
		--train) choices='sgd momentum adam adamw' ;;
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
