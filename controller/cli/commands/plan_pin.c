/* plan_pin.c - replaces the image of a sweep by its digest.
 */
#include "controller/cli/commands/plan_pin.h"
#include "controller/cli/commands/images.h"
#include "protocol/base/program.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <string.h>

/* The digest of the image, and a node that has it. Both are borrowed. */
struct pin {
	const char *digest; /* NAME@DIGEST; "": not known yet */
	const char *node;
};

/* The images of the cells that would run, each once. */
static int collect(struct sweep *sweep, struct strings *images,
		   struct error *err)
{
	for (size_t i = 0; i < sweep_totals(sweep)->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };

		if (sweep_cell_spec(sweep, i, &spec, err) < 0)
			return -1;
		if (spec.container.build)
			return error_set(err, EINVAL,
					 "%.200s is built by the nodes, so its "
					 "tag already identifies it",
					 spec.container.image);
		if (!strings_has(images, spec.container.image) &&
		    strings_add(images, spec.container.image, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_called(const struct image_info *image,
		      const struct reference *wanted)
{
	char text[REFERENCE_MAX + 140];

	snprintf(text, sizeof(text), "%s:%s", wanted->name,
		 wanted->tag[0] ? wanted->tag : "latest");
	return strings_has(&image->tags, text);
}

/* The digest of the name's own repository; NULL: it came from none. */
static const char *digest_of(const struct image_info *image, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < image->digests.count; i++)
		if (!strncmp(image->digests.items[i], name, length) &&
		    image->digests.items[i][length] == '@')
			return image->digests.items[i];
	return NULL;
}

static int find_on_node(const struct image_node *node, const char *name,
			const struct reference *wanted, struct pin *pin,
			struct error *err)
{
	for (size_t i = 0; i < node->images_count; i++) {
		const char *digest;

		if (!is_called(&node->images[i], wanted))
			continue;
		digest = digest_of(&node->images[i], wanted->name);
		if (!digest)
			return error_set(err, ENOENT,
					 "%s: %.200s is not from a registry, "
					 "so it has no digest",
					 node->name, name);
		if (pin->digest[0] && strcmp(pin->digest, digest) != 0)
			return error_set(err, EINVAL,
					 "%s has another image as %.200s than "
					 "%s",
					 node->name, name, pin->node);
		*pin = (struct pin){ digest, node->name };
	}
	return 0;
}

static int find(const struct image_order_info *images, const char *name,
		struct pin *pin, struct error *err)
{
	struct reference wanted;

	if (reference_parse(name, &wanted, err) < 0)
		return -1;
	for (size_t i = 0; i < images->nodes_count; i++)
		if (find_on_node(&images->nodes[i], name, &wanted, pin, err) <
		    0)
			return -1;
	if (pin->digest[0])
		return 0;
	return error_set(err, ENOENT,
			 "no node has %.200s; run 'regatta image pull'", name);
}

/* Add the digest as a further document. The image of a single cell would take
 * precedence: that is an error.
 */
static int add_pin(struct input *input, const char *name, const struct pin *pin,
		   struct error *err)
{
	owned(strings_clear) struct strings images = { 0 };
	owned(sweep_free) struct sweep *sweep = NULL;

	if (buffer_printf(&input->text, err,
			  "\n---\n# %s, as %s has it\nimage: %s\n", name,
			  pin->node, pin->digest) < 0)
		return -1;
	sweep = sweep_parse(input->text.data, input->text.size, input->name,
			    input->catalog, err);
	if (!sweep || collect(sweep, &images, err) < 0)
		return -1;
	if (images.count == 1 && !strcmp(images.items[0], pin->digest))
		return 0;
	return error_set(err, EINVAL,
			 "%s: the matrix names the image; write %s there",
			 input->name, pin->digest);
}

int plan_pin(struct cli *cli, struct input *input, struct error *err)
{
	owned(strings_clear) struct strings images = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	struct pin pin = { "", "" };

	if (collect(input->sweep, &images, err) < 0)
		return -1;
	if (images.count != 1)
		return error_set(err, EINVAL,
				 "%s: the cells have %zu images; expected one",
				 input->name, images.count);
	if (!strstr(images.items[0], "sha256:") &&
	    (images_ask(&view, cli, NULL, &answer, err) < 0 ||
	     find(image_answer(&answer), images.items[0], &pin, err) < 0 ||
	     add_pin(input, images.items[0], &pin, err) < 0))
		return -1;
	fwrite(input->text.data, 1, input->text.size, cli->out);
	return EXIT_GOOD;
}
