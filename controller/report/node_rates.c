/* node_rates.c - which node is slower or faster than the others.
 */
#include "controller/report/node_rates.h"

#include "controller/report/means.h"
#include "controller/report/translations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES_COMPARED 64 /* of a cell, with one */

/* A run on one of its nodes. */
struct node_share {
	const char *cell, *node;
	struct rate rate;
	const struct strings *nodes; /* of the run */
};

static int shares_compare(const void *a, const void *b)
{
	const struct node_share *x = a, *y = b;
	int order = strcmp(x->cell, y->cell);

	if (!order)
		order = (int)x->rate.unit - (int)y->rate.unit;
	return order ? order : strverscmp(x->node, y->node);
}

static int doubles_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the numbers; NAN: there are none. */
static double numbers_median(double *numbers, size_t count)
{
	if (!count)
		return NAN;
	qsort(numbers, count, sizeof(*numbers), doubles_compare);
	return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

static struct node_rates_item *rates_item(struct node_rates *rates,
					  const char *node)
{
	for (size_t i = 0; i < rates->count; i++)
		if (!strcmp(rates->items[i].node, node))
			return &rates->items[i];
	rates->items[rates->count] = (struct node_rates_item){ .node = node };
	return &rates->items[rates->count++];
}

/* The end of the shares that are of the node of the first one. */
static size_t node_end(const struct node_share *shares, size_t from, size_t end)
{
	size_t to = from + 1;

	while (to < end && !strcmp(shares[to].node, shares[from].node))
		to++;
	return to;
}

/* With what the runs of a node are compared: the median of the nodes' means,
 * those of others without the runs of which it was a part; of one other node
 * its mean. NAN: there is none.
 */
static double reference_rate(const struct node_share *shares, size_t count,
			     const char *node)
{
	double means[NODES_COMPARED + 1];
	struct mean own = { 0 };
	size_t others = 0;

	for (size_t i = 0, end; i < count && others < NODES_COMPARED; i = end) {
		bool itself = !strcmp(shares[i].node, node);
		struct mean mean = { 0 };

		end = node_end(shares, i, count);
		for (size_t k = i; k < end; k++)
			if (itself || !strings_has(shares[k].nodes, node))
				mean_add(&mean, shares[k].rate.value);
		if (itself)
			own = mean;
		else if (mean.n)
			means[others++] = mean.value;
	}
	if (others > 1 && own.n)
		means[others++] = own.value;
	return numbers_median(means, others);
}

/* The runs of a cell: sums of each node, which are means later. */
static void cell_compare(const struct node_share *shares, size_t count,
			 struct node_rates *rates, struct mean *means)
{
	for (size_t i = 0, end; i < count; i = end) {
		double reference =
			reference_rate(shares, count, shares[i].node);
		struct node_rates_item *item;

		end = node_end(shares, i, count);
		if (!isfinite(reference))
			continue;
		item = rates_item(rates, shares[i].node);
		item->rate.cells++;
		for (size_t k = i; k < end; k++)
			mean_add(&means[item - rates->items],
				 (shares[k].rate.value / reference - 1) * 100);
	}
}

static int items_compare(const void *a, const void *b)
{
	return strverscmp(((const struct node_rates_item *)a)->node,
			  ((const struct node_rates_item *)b)->node);
}

/* How far the nodes but this one typically are from the others. */
static double others_distance(const struct node_rates *rates, size_t but)
{
	double distances[NODES_COMPARED];
	size_t count = 0;

	for (size_t i = 0; i < rates->count && count < NODES_COMPARED; i++)
		if (i != but)
			distances[count++] = fabs(rates->items[i].rate.percent);
	return numbers_median(distances, count);
}

static void mark_outliers(struct node_rates *rates)
{
	for (size_t i = 0; i < rates->count; i++) {
		struct node_rate *of = &rates->items[i].rate;
		double distance = fabs(of->percent);

		of->outlier =
			distance >= NODE_RATES_OUTLIER &&
			!(distance <= of->margin) &&
			(rates->count == 2
				 ? of->percent < 0
				 : distance > 3 * others_distance(rates, i));
	}
}

static void rates_finish(struct node_rates *rates, const struct mean *means)
{
	for (size_t i = 0; i < rates->count; i++) {
		struct node_rate *of = &rates->items[i].rate;

		of->runs = means[i].n;
		of->percent = mean_rounded(means[i].value);
		of->margin = mean_rounded(mean_margin(&means[i]));
	}
	qsort(rates->items, rates->count, sizeof(*rates->items), items_compare);
	mark_outliers(rates);
}

static size_t count_shares(const struct node_run *runs, size_t count)
{
	size_t shares = 0;

	for (size_t i = 0; i < count; i++)
		shares += runs[i].nodes->count;
	return shares;
}

int node_rates_find(const struct node_run *runs, size_t count,
		    struct node_rates *rates, struct error *err)
{
	size_t room = count_shares(runs, count) + 1, n = 0;
	owned_free struct node_share *shares = calloc(room, sizeof(*shares));
	owned_free struct mean *means = calloc(room, sizeof(*means));

	rates->items = calloc(room, sizeof(*rates->items));
	if (!shares || !means || !rates->items)
		return error_nomem(err, "nodes");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < runs[i].nodes->count; k++)
			shares[n++] = (struct node_share){
				runs[i].cell, runs[i].nodes->items[k],
				runs[i].rate, runs[i].nodes
			};
	qsort(shares, n, sizeof(*shares), shares_compare);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n &&
				  !strcmp(shares[i].cell, shares[end].cell) &&
				  shares[i].rate.unit == shares[end].rate.unit;)
			end++;
		cell_compare(&shares[i], end - i, rates, means);
	}
	rates_finish(rates, means);
	return 0;
}

void node_rates_clear(struct node_rates *rates)
{
	free(rates->items);
	*rates = (struct node_rates){ 0 };
}

/* Of a report. */

static void rates_fill_table(const struct node_rates *rates,
			     struct table *table)
{
	for (size_t i = 0; i < rates->count; i++) {
		const struct node_rates_item *item = &rates->items[i];
		const struct node_rate *of = &item->rate;
		char text[NODE_RATE_TEXT];

		table_text(table, item->node);
		table_cell(table, of->outlier ? RED : PLAIN, "%s",
			   node_rate_words(of, text));
		table_cell(table, PLAIN, "%llu", (unsigned long long)of->runs);
		table_cell(table, PLAIN, "%llu", (unsigned long long)of->cells);
	}
}

int node_rates_table(const struct report_rows *rows, enum language language,
		     struct table *table, struct error *err)
{
	/* clang-format off */
	static const struct column columns[LANGUAGES][5] = {
		[LANGUAGE_EN] = {
			{ "node", false }, { "against the others (%)", true },
			{ "runs", true }, { "cells", true }, { NULL, false },
		},
		[LANGUAGE_ZH] = {
			{ "节点", false }, { "相对其他节点 (%)", true },
			{ "运行次数", true }, { "单元", true }, { NULL, false },
		},
	};
	/* clang-format on */
	owned(node_rates_clear) struct node_rates rates = { 0 };
	owned_free struct node_run *runs =
		calloc(rows->count + 1, sizeof(*runs));
	size_t count = 0;

	*table = (struct table){ .columns = columns[language] };
	if (!runs)
		return error_nomem(err, "nodes");
	ROWS_EACH(row, rows)
	{
		struct rate rate = row_rate(row);

		if (rate.unit && row->info.provenance && !row_heat(row))
			runs[count++] = (struct node_run){
				row_cell(row), rate,
				&row->info.provenance->nodes
			};
	}
	if (node_rates_find(runs, count, &rates, err) < 0)
		return -1;
	rates_fill_table(&rates, table);
	return 0;
}

const char *node_rate_words(const struct node_rate *of,
			    char text[NODE_RATE_TEXT])
{
	snprintf(text, NODE_RATE_TEXT, "%+.1f", of->percent);
	if (isfinite(of->margin))
		text_append(text, NODE_RATE_TEXT, " ± %.1f", of->margin);
	if (of->outlier)
		text_append(text, NODE_RATE_TEXT, " (!)");
	return text;
}
