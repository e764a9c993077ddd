/* sniff.c - what goes over the loopback interface to and from a TCP port.
 *
 *	sniff PORT FILE
 *
 * Writes the bytes of every packet, headers too, to FILE until it is ended by
 * a signal. Prints "ready" when it listens. Needs CAP_NET_RAW.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int of_port(const char *packet, size_t size, uint16_t port)
{
	struct iphdr ip;
	struct tcphdr tcp;

	if (size < sizeof(ip) + sizeof(tcp))
		return 0;
	memcpy(&ip, packet, sizeof(ip));
	if (ip.version != 4 || ip.protocol != IPPROTO_TCP ||
	    (size_t)ip.ihl * 4 + sizeof(tcp) > size)
		return 0;
	memcpy(&tcp, packet + (size_t)ip.ihl * 4, sizeof(tcp));
	return ntohs(tcp.source) == port || ntohs(tcp.dest) == port;
}

int main(int argc, char **argv)
{
	static char packet[1 << 17];
	int room = 64 << 20;
	int from =
		socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_IP));
	struct sockaddr_ll lo = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_IP),
				  .sll_ifindex = (int)if_nametoindex("lo") };
	int to;
	ssize_t got;

	if (argc != 3) {
		fprintf(stderr, "usage: sniff PORT FILE\n");
		return 2;
	}
	to = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (from < 0 || to < 0 ||
	    bind(from, (struct sockaddr *)&lo, sizeof(lo)) < 0) {
		perror("sniff");
		return 1;
	}
	setsockopt(from, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	puts("ready");
	fflush(stdout);
	while ((got = recv(from, packet, sizeof(packet), 0)) >= 0)
		if (of_port(packet, (size_t)got,
			    (uint16_t)strtoul(argv[1], NULL, 10)) &&
		    write(to, packet, (size_t)got) != got)
			return 1;
	perror("sniff");
	return 1;
}
