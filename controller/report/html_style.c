/* html_style.c - writes the head of a page with its styles (style.css).
 */
#include "controller/report/html_style.h"

/* The file as it is, and a NUL. */
__asm__(".pushsection .rodata\n"
	".global report_style\n"
	"report_style:\n"
	".incbin \"controller/report/style.css\"\n"
	".byte 0\n"
	".popsection\n");
extern const char report_style[];

void html_begin(struct writer *to, const char *language, const char *title)
{
	writer_printf(to,
		      "<!doctype html>\n<html lang=\"%s\"><head>"
		      "<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width\">"
		      "\n<style>\n",
		      language);
	writer_raw(to, report_style);
	writer_printf(to, "</style>\n<title>%s</title></head>\n<body>\n",
		      title);
}
