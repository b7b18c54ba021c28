#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attributes whose kind is one and the same in every operator of ONNX.

Prints the lists of src/graph/attributes.c from the schemas of the onnx
package, over all versions of all operators of ai.onnx and ai.onnx.ml.
Made with onnx 1.23.2.
"""
from collections import defaultdict

import onnx.defs

KINDS = ["INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS", "GRAPH"]

kinds = defaultdict(set)
for schema in onnx.defs.get_all_schemas_with_history():
    if schema.domain in ("", "ai.onnx.ml"):
        for name, attribute in schema.attributes.items():
            kinds[name].add(attribute.type.name)
for kind in KINDS:
    names = sorted(n for n in kinds if kinds[n] == {kind})
    print(f"static const char {kind.lower()}_names[] =")
    print(f'" {" ".join(names)} ";\n')
