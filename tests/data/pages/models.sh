# What makes models and files, and says little about it.
sleuth zoo export mlp:4-8-2 small.onnx
sleuth extract resnet18 layer1.0 block.onnx
sleuth optimize --changes
sleuth suite --init
sleuth inspect small.onnx --json=small.json -q
sleuth gate small.json --baseline base.json --accept 'a first one'
sleuth gate small.json --baseline base.json --limit size=1% --limit flops=0% --color $COLOUR
sleuth report small.json --md small.md --csv small.csv -q
ls
