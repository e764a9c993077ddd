/* images.c - requests about images on nodes. */
#include "controller/api/api.h"
#include "controller/images/logins.h"
#include "controller/images/operations.h"

int api_image(struct api_request *request, void *reply, struct error *err)
{
	struct reply_image *to = reply;

	return operations_describe(request->api->operations, request->message,
				   &to->image, err);
}

int api_image_operation(struct api_request *request, void *reply,
			struct error *err)
{
	const struct message_image_operation *message = request->message;
	struct reply_image_operation *to = reply;

	if (logins_accept(request->api->logins, message->spec.logins,
			  message->spec.logins_count, request->public, err) < 0)
		return -1;
	return operations_begin(request->api->operations, request->by,
				&message->spec, &message->nodes, &to->nodes,
				err);
}

int api_image_list(struct api_request *request, void *reply, struct error *err)
{
	const struct message_image_list *message = request->message;
	const struct image_spec spec = { .id = message->operation,
					 .kind = IMAGE_LIST };
	struct reply_image_operation *to = reply;

	return operations_begin(request->api->operations, request->by, &spec,
				&message->nodes, &to->nodes, err);
}
