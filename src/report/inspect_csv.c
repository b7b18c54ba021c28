/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_csv.c - the layers of models as CSV, one line each, all of them. */
#include "base/buf.h"
#include "report/inspect_page.h"
#include "report/result_csv.h"

#include <inttypes.h>
#include <math.h>

#include "base/banned.h"

/* Exact, beyond what a double holds. */
static void
csv_integers(struct sl_buf *out, const uint64_t *n, size_t n_fields)
{
	for (size_t i = 0; i < n_fields; i++)
		sl__buf_format(out, "%" PRIu64 ",", n[i]);
}

static void
csv_layer(struct sl_buf *out, const char *model, const struct sl_layer *l)
{
	const struct sl_cost *c = &l->cost;
	const uint64_t work[] = {c->macs, 2 * c->macs, sl_cost_operations(c)};
	const uint64_t bytes[] = {sl_cost_bytes(c), c->weight_bytes,
				  c->read_bytes, c->written_bytes,
				  l->output_bytes};
	int is_known = c->basis != SL_BASIS_UNKNOWN;

	sl__csv_text(out, model);
	sl__csv_text(out, l->name);
	sl__csv_text(out, l->type);
	sl__csv_text(out, l->domain ? l->domain : "");
	sl__csv_text(out, l->path ? l->path : "");
	sl__csv_text(out, sl_work_text(c->work));
	sl__csv_text(out, sl_basis_text(c->basis));
	csv_integers(out, &l->n_calls, 1);
	sl__csv_text(out, sl_dtype_text(l->dtype));
	sl__csv_text(out, l->output_shape ? l->output_shape : "");
	csv_integers(out, &l->parameters, 1);
	csv_integers(out, work, is_known ? 3 : 0);
	sl__buf_repeat(out, ",", is_known ? 0 : 3);
	csv_integers(out, bytes, sizeof(bytes) / sizeof(*bytes));
	sl__csv_number(out, is_known ? l->intensity : (double)NAN);
	sl__csv_number(out, is_known ? l->share : (double)NAN);
	sl__csv_end_line(out);
}

void
sl__inspect_csv(struct sl_buf *out, const void *result)
{
	const struct sl__inspect_page_input *r = result;

	sl__buf_text(out, "model,name,type,domain,path,work,basis,calls,dtype,"
			  "output_shape,parameters,macs,flops,operations,bytes,"
			  "weight_bytes,read_bytes,written_bytes,memory_bytes,"
			  "intensity,share\n");
	for (size_t m = 0; m < r->inspections.n; m++) {
		const struct sl_inspection *i = r->inspections.list[m];

		for (size_t k = 0; k < i->n_layers; k++)
			csv_layer(out,
				  sl__model_display_name(i->name, i->source),
				  &i->layers[k]);
	}
}
