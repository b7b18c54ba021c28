# What goes wrong is said in one line, with what to do.
sleuth nosuch
sleuth profil
sleuth inspect resnet5
sleuth profile
sleuth profile lenet5 --tim 3
sleuth sweep lenet5 --batch x
sleuth fit lenet5
sleuth gate
sleuth load lenet5 --slo p99
sleuth optimize lenet5 --apply int
sleuth optimize lenet5 --apply nosuch
sleuth extract lenet5 nosuch o.onnx
sleuth compare
sleuth bench
sleuth train
sleuth eval lenet5
sleuth show --db none.db
sleuth report none.json
sleuth help nosuch
