/* images.c - requests about images on nodes. */
#include "controller/api/api.h"
#include "controller/images/image_rollout.h"
#include "controller/images/logins.h"

int api_image(struct api_request *request, void *reply, struct error *err)
{
	struct reply_image *to = reply;

	return image_rollout_describe(request->api->rollouts, request->message,
				      &to->image, err);
}

int api_image_order(struct api_request *request, void *reply, struct error *err)
{
	const struct message_image_order *message = request->message;
	struct reply_image_order *to = reply;

	if (logins_accept(request->api->logins, message->logins,
			  message->logins_count, request->public, err) < 0)
		return -1;
	return image_rollout_request(request->api->rollouts, request->by,
				     message, &to->nodes, err);
}

int api_image_list(struct api_request *request, void *reply, struct error *err)
{
	const struct message_image_list *message = request->message;
	struct reply_image_order *to = reply;
	const struct message_image_order order = {
		.what = (char *)"list",
		.order = message->order,
		.nodes = message->nodes,
	};

	return image_rollout_request(request->api->rollouts, request->by,
				     &order, &to->nodes, err);
}
