/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_csv.c - the layers of models as CSV, one line each, all of them. */
#include "base/buf.h"
#include "report/inspect_page.h"
#include "report/result_csv.h"

#include <inttypes.h>

#include "base/banned.h"

/* Exact, beyond what a double holds. */
static void
csv_integer(struct sl_buf *out, uint64_t n)
{
	sl__buf_format(out, "%" PRIu64 ",", n);
}

static void
csv_cost(struct sl_buf *out, const struct sl_layer *l)
{
	const struct sl_cost *c = &l->cost;

	if (c->basis == SL_BASIS_UNKNOWN) {
		sl__buf_repeat(out, ",", 3);
	} else {
		csv_integer(out, c->macs);
		csv_integer(out, 2 * c->macs);
		csv_integer(out, sl_cost_operations(c));
	}
	csv_integer(out, sl_cost_bytes(c));
	csv_integer(out, c->weight_bytes);
	csv_integer(out, c->read_bytes);
	csv_integer(out, c->written_bytes);
}

static void
csv_layer(struct sl_buf *out, const char *model, const struct sl_layer *l)
{
	sl__csv_text(out, model);
	sl__csv_text(out, l->name);
	sl__csv_text(out, l->type);
	sl__csv_text(out, l->domain ? l->domain : "");
	sl__csv_text(out, l->path ? l->path : "");
	sl__csv_text(out, sl_work_text(l->cost.work));
	sl__csv_text(out, sl_basis_text(l->cost.basis));
	csv_integer(out, l->n_calls);
	sl__csv_text(out, sl_dtype_text(l->dtype));
	sl__csv_text(out, l->output_shape ? l->output_shape : "");
	csv_integer(out, l->parameters);
	csv_cost(out, l);
	csv_integer(out, l->output_bytes);
	if (l->cost.basis == SL_BASIS_UNKNOWN) {
		sl__buf_repeat(out, ",", 2);
	} else {
		sl__csv_number(out, l->intensity);
		sl__csv_number(out, l->share);
	}
	sl__csv_end(out);
}

void
sl__inspect_csv(struct sl_buf *out, const void *result)
{
	const struct sl__inspect_result *r = result;

	sl__buf_text(out, "model,name,type,domain,path,work,basis,calls,dtype,"
			  "output_shape,parameters,macs,flops,operations,bytes,"
			  "weight_bytes,read_bytes,written_bytes,memory_bytes,"
			  "intensity,share\n");
	for (size_t m = 0; m < r->n_models; m++) {
		const struct sl_inspection *i = r->models[m];

		for (size_t k = 0; k < i->n_layers; k++)
			csv_layer(out, sl__model_title(i->name, i->source),
				  &i->layers[k]);
	}
}
