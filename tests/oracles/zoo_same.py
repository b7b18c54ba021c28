# SPDX-License-Identifier: Apache-2.0
"""Whether the built-in models compute what torchvision and transformers
compute: each export is run by ONNX Runtime, its weights are loaded into the
other implementation by name, and the results are compared.

    sleuth zoo export resnet50 resnet50.onnx
    python zoo_same.py resnet50=resnet50.onnx gpt2@kv=gpt2kv.onnx ...
"""
import sys

import numpy as np
import onnx
import onnxruntime
import torch
import torchvision.models as vision
import transformers as text
from onnx import numpy_helper

VISION = {"vgg16": "vgg16", "resnet18": "resnet18", "resnet34": "resnet34",
          "resnet50": "resnet50", "resnet101": "resnet101",
          "resnet152": "resnet152", "mobilenetv2": "mobilenet_v2",
          "efficientnet-b0": "efficientnet_b0", "vit-b-16": "vit_b_16"}
GPT2 = {"gpt2": (12, 768, 12), "gpt2-medium": (24, 1024, 16)}
LLAMA = {"tinyllama": (22, 2048, 32, 4, 5632),
         "llama-2-7b": (32, 4096, 32, 32, 11008)}


def make(base):
    if base in VISION:
        return getattr(vision, VISION[base])()
    if base in GPT2:
        layers, width, heads = GPT2[base]
        return text.GPT2LMHeadModel(text.GPT2Config(
            n_layer=layers, n_embd=width, n_head=heads,
            attn_implementation="eager"))
    if base in LLAMA:
        layers, width, heads, kv_heads, inner = LLAMA[base]
        return text.LlamaForCausalLM(text.LlamaConfig(
            num_hidden_layers=layers, hidden_size=width,
            intermediate_size=inner, num_attention_heads=heads,
            num_key_value_heads=kv_heads, vocab_size=32000,
            rms_norm_eps=1e-5, attn_implementation="eager"))
    assert base == "bert-base", base
    return text.BertModel(text.BertConfig(attn_implementation="eager"))


def load(model, path):
    """Every parameter by its name; products over sequences keep their
    weights the other way around, which a Gemm's node tells."""
    graph = onnx.load(path).graph
    weights = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    turned = {n.input[1] for n in graph.node if n.op_type == "MatMul"}
    state = model.state_dict()
    linear = {n + ".weight" for n, m in model.named_modules()
              if isinstance(m, torch.nn.Linear)}
    for key in state:
        name = key.replace("in_proj_", "in_proj.")
        if "num_batches" in key:
            continue
        if name == "lm_head.weight" and name not in weights:
            name = "transformer.wte.weight"
        value = torch.from_numpy(np.array(weights[name]))
        if name in turned and (key in linear or "in_proj" in key):
            value = value.t()
        assert value.shape == state[key].shape, key
        state[key] = value
    model.load_state_dict(state)
    return model.eval()


def feed_step(model, tokens):
    """One token after a cache that the other implementation made."""
    cache = model(input_ids=tokens[:, :-1], use_cache=True).past_key_values
    feed = {"input_ids": tokens[:, -1:].numpy()}
    for i, layer in enumerate(cache.layers):
        feed[f"past_key_values.{i}.key"] = layer.keys.numpy().copy()
        feed[f"past_key_values.{i}.value"] = layer.values.numpy().copy()
    return feed


def compare(name, path):
    base, _, step = name.partition("@")
    rng = np.random.default_rng(1)
    session = onnxruntime.InferenceSession(
        path, providers=["CPUExecutionProvider"])
    model = load(make(base), path)
    if base in VISION:
        x = rng.standard_normal((2, 3, 224, 224)).astype(np.float32)
        feed, expected = {"x": x}, model(torch.from_numpy(x))
    elif base == "bert-base":
        feed = {"input_ids": rng.integers(0, 30000, (2, 40)),
                "attention_mask": np.arange(40)[None] < [[40], [30]],
                "token_type_ids": rng.integers(0, 2, (2, 40))}
        feed["attention_mask"] = feed["attention_mask"].astype(np.int64)
        expected = model(**{k: torch.from_numpy(v)
                            for k, v in feed.items()})[0]
    else:
        tokens = torch.from_numpy(rng.integers(0, 30000, (2, 20)))
        expected = model(input_ids=tokens).logits
        feed = {"input_ids": tokens.numpy()}
        if step:
            feed = feed_step(model, tokens)
            expected = expected[:, -1:]
    found = session.run(None, feed)[0]
    expected = expected.numpy()
    error = np.abs(found - expected).max() / np.abs(expected).max()
    print(f"{name:16} {error:.2e} of {np.abs(expected).max():.3g}")
    return error < 1e-5


with torch.no_grad():
    results = [compare(*word.split("=")) for word in sys.argv[1:]]
sys.exit(not all(results))
