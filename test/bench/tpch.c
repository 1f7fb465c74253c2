/*
 * tpch.c
 *		Writes the eight tables of TPC-H as CSV files.
 *
 *	tpch SCALE DIRECTORY [SEED]
 *
 * makes region.csv, nation.csv, supplier.csv, part.csv, partsupp.csv,
 * customer.csv, orders.csv and lineitem.csv: no header, text quoted where it
 * has a comma.  Scale 1 is about 1 GB, and 0.01 the least: below, the formula
 * for the suppliers of a part would name one twice.
 *
 * Numbers of rows, words, ranges, formulas and the grammar of comments are
 * those of the TPC-H specification, clauses 4.2.2 and 4.2.3; the values are
 * drawn otherwise than by the TPC's own program, so answers differ from its
 * reference answers in their digits.  The output is the same for the same
 * arguments.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define PICK(array)		((array)[next_random(COUNT(array))])

/* ---- the specification's words ---- */

static const char *const regions[] = {
	"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"
};
static const struct
{
	const char *name;
	unsigned	region;
}			nations[] = {
	{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1},
	{"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3}, {"GERMANY", 3}, {"INDIA", 2},
	{"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2}, {"JORDAN", 4},
	{"KENYA", 0}, {"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1}, {"CHINA", 2},
	{"ROMANIA", 3}, {"SAUDI ARABIA", 4}, {"VIETNAM", 2}, {"RUSSIA", 3},
	{"UNITED KINGDOM", 3}, {"UNITED STATES", 1}
};
static const char *const colors[] = {
	"almond", "antique", "aquamarine", "azure", "beige", "bisque", "black",
	"blanched", "blue", "blush", "brown", "burlywood", "burnished",
	"chartreuse", "chiffon", "chocolate", "coral", "cornflower", "cornsilk",
	"cream", "cyan", "dark", "deep", "dim", "dodger", "drab", "firebrick",
	"floral", "forest", "frosted", "gainsboro", "ghost", "goldenrod", "green",
	"grey", "honeydew", "hot", "indian", "ivory", "khaki", "lace", "lavender",
	"lawn", "lemon", "light", "lime", "linen", "magenta", "maroon", "medium",
	"metallic", "midnight", "mint", "misty", "moccasin", "navajo", "navy",
	"olive", "orange", "orchid", "pale", "papaya", "peach", "peru", "pink",
	"plum", "powder", "puff", "purple", "red", "rose", "rosy", "royal",
	"saddle", "salmon", "sandy", "seashell", "sienna", "sky", "slate", "smoke",
	"snow", "spring", "steel", "tan", "thistle", "tomato", "turquoise",
	"violet", "wheat", "white", "yellow"
};
static const char *const type_sizes[] = {
	"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"
};
static const char *const type_finishes[] = {
	"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"
};
static const char *const type_metals[] = {
	"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"
};
static const char *const container_sizes[] = {
	"SM", "LG", "MED", "JUMBO", "WRAP"
};
static const char *const container_kinds[] = {
	"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"
};
static const char *const segments[] = {
	"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"
};
static const char *const priorities[] = {
	"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"
};
static const char *const instructions[] = {
	"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"
};
static const char *const modes[] = {
	"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"
};

/* the words of comments */
static const char *const nouns[] = {
	"foxes", "ideas", "theodolites", "pinto beans", "instructions",
	"dependencies", "excuses", "platelets", "asymptotes", "courts", "dolphins",
	"multipliers", "sauternes", "warthogs", "frets", "dinos", "attainments",
	"somas", "Tiresias'", "patterns", "forges", "braids", "hockey players",
	"frays", "warhorses", "dugouts", "notornis", "epitaphs", "pearls",
	"tithes", "waters", "orbits", "gifts", "sheaves", "depths", "sentiments",
	"decoys", "realms", "pains", "grouches", "escapades"
};
static const char *const frequent_nouns[] = {
	"packages", "requests", "accounts", "deposits"
};
static const char *const verbs[] = {
	"sleep", "wake", "are", "cajole", "haggle", "nag", "use", "boost", "affix",
	"detect", "integrate", "maintain", "nod", "was", "lose", "sublate", "solve",
	"thrash", "promise", "engage", "hinder", "print", "x-ray", "breach", "eat",
	"grow", "impress", "mold", "poach", "serve", "run", "dazzle", "snooze",
	"doze", "unwind", "kindle", "play", "hang", "believe", "doubt"
};
static const char *const adjectives[] = {
	"furious", "sly", "careful", "blithe", "quick", "fluffy", "slow", "quiet",
	"ruthless", "thin", "close", "dogged", "daring", "brave", "stealthy",
	"permanent", "enticing", "idle", "busy", "regular", "final", "ironic",
	"even", "bold", "silent"
};
static const char *const frequent_adjectives[] = {
	"special", "pending", "unusual", "express", "regular", "final", "ironic",
	"even", "bold", "silent"
};
static const char *const adverbs[] = {
	"sometimes", "always", "never", "furiously", "slyly", "carefully",
	"blithely", "quickly", "fluffily", "slowly", "quietly", "ruthlessly",
	"thinly", "closely", "doggedly", "daringly", "bravely", "stealthily",
	"permanently", "enticingly", "idly", "busily", "regularly", "finally",
	"ironically", "evenly", "boldly", "silently"
};
static const char *const prepositions[] = {
	"about", "above", "according to", "across", "after", "against", "along",
	"alongside of", "among", "around", "at", "atop", "before", "behind",
	"beneath", "beside", "besides", "between", "beyond", "by", "despite",
	"during", "except", "for", "from", "in place of", "inside", "instead of",
	"into", "near", "of", "on", "outside", "over", "past", "since", "through",
	"throughout", "to", "toward", "under", "until", "up", "upon", "without",
	"with", "within"
};
static const char *const auxiliaries[] = {
	"do", "may", "might", "shall", "will", "would", "can", "could", "should",
	"ought to", "must", "will have to", "shall have to", "could have to",
	"should have to", "must have to", "need to", "try to"
};
static const char *const terminators[] = {".", ";", ":", "?", "!", "--"};

/* ---- numbers of rows, and days ---- */

static const char *directory;
static double scale;
static uint64_t first_seed;

static uint32_t
rows(uint32_t at_scale_1)
{
	return (uint32_t) (at_scale_1 * scale + 0.5);
}

/* days are counted from 1992-01-01, STARTDATE */
enum
{
	NDAYS = 2557,				/* to 1998-12-31, ENDDATE */
	LAST_ORDER_DAY = NDAYS - 1 - 151,
	CURRENT_DAY = 1263			/* 1995-06-17, CURRENTDATE */
};
static char days[NDAYS][sizeof("1992-01-01")];

static void
make_days(void)
{
	static const uint8_t lengths[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};
	unsigned	year = 1992;
	unsigned	month = 1;
	unsigned	day = 1;

	for (size_t i = 0; i < NDAYS; i++)
	{
		snprintf(days[i], sizeof(days[i]), "%04u-%02u-%02u", year % 10000,
				 month % 100, day % 100);
		if (++day > lengths[month - 1] + (month == 2 && year % 4 == 0 ? 1u : 0u))
		{
			day = 1;
			if (++month > 12)
			{
				month = 1;
				year++;
			}
		}
	}
}

/* ---- a record: fields are added at a pointer, which moves on ---- */

static char *
add(char *at, const char *text)
{
	size_t		length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

/* with zeros in front, to this many digits */
static char *
add_number(char *at, uint64_t number, int ndigits)
{
	char		digits[20];
	int			n = 0;

	do
		digits[n++] = (char) ('0' + number % 10);
	while ((number /= 10) > 0);
	while (n < ndigits)
		digits[n++] = '0';
	while (n > 0)
		*at++ = digits[--n];
	return at;
}

static char *
add_cents(char *at, int64_t cents)
{
	uint64_t	magnitude = (uint64_t) (cents < 0 ? -cents : cents);

	if (cents < 0)
		*at++ = '-';
	at = add_number(at, magnitude / 100, 1);
	*at++ = '.';
	return add_number(at, magnitude % 100, 2);
}

/* text and a number after the comma that ends the field before */
static char *
next_text(char *at, const char *text)
{
	*at++ = ',';
	return add(at, text);
}

static char *
next_number(char *at, uint64_t number)
{
	*at++ = ',';
	return add_number(at, number, 1);
}

static char *
next_cents(char *at, int64_t cents)
{
	*at++ = ',';
	return add_cents(at, cents);
}

static uint32_t
between(uint32_t least, uint32_t greatest)
{
	return least + next_random(greatest - least + 1);
}

/* a field of nbytes that may have commas in it */
static char *
next_field(char *at, const char *bytes, size_t nbytes)
{
	bool		quoted = memchr(bytes, ',', nbytes) != NULL;

	*at++ = ',';
	if (quoted)
		*at++ = '"';
	memcpy(at, bytes, nbytes);
	at += nbytes;
	if (quoted)
		*at++ = '"';
	return at;
}

/* ---- comments: parts of one text made by the grammar of 4.2.2.14 ---- */

enum
{
	TEXT_BYTES = 8 << 20,
	LONGEST_SENTENCE = 1024
};
static char text[TEXT_BYTES + LONGEST_SENTENCE];

static char *
add_word(char *at, const char *word)
{
	at = add(at, word);
	*at++ = ' ';
	return at;
}

static char *
add_noun(char *at)
{
	return add_word(at, next_random(5) < 3 ? PICK(frequent_nouns) : PICK(nouns));
}

static char *
add_adjective(char *at)
{
	return add_word(at, next_random(5) < 3 ? PICK(frequent_adjectives) :
					PICK(adjectives));
}

static char *
add_noun_phrase(char *at)
{
	switch (next_random(4))
	{
		case 0:
			break;
		case 1:
			at = add_adjective(at);
			break;
		case 2:
			at = add(add_adjective(at) - 1, ", ");
			at = add_adjective(at);
			break;
		default:
			at = add_word(at, PICK(adverbs));
			at = add_adjective(at);
	}
	return add_noun(at);
}

static char *
add_verb_phrase(char *at)
{
	uint32_t	kind = next_random(4);

	if (kind & 1)
		at = add_word(at, PICK(auxiliaries));
	at = add_word(at, PICK(verbs));
	if (kind & 2)
		at = add_word(at, PICK(adverbs));
	return at;
}

static char *
add_prepositional_phrase(char *at)
{
	at = add_word(at, PICK(prepositions));
	return add_noun_phrase(add_word(at, "the"));
}

static char *
add_sentence(char *at)
{
	uint32_t	kind = next_random(5);

	at = add_noun_phrase(at);
	if (kind >= 3)
		at = add_prepositional_phrase(at);
	at = add_verb_phrase(at);
	if (kind == 1 || kind == 4)
		at = add_prepositional_phrase(at);
	else if (kind >= 2)
		at = add_noun_phrase(at);
	return add_word(at - 1, PICK(terminators));
}

static void
make_text(void)
{
	seed_random(first_seed);
	for (char *at = text; at < text + TEXT_BYTES;)
		at = add_sentence(at);
}

static const char *
some_text(size_t nbytes)
{
	return text + next_random((uint32_t) (TEXT_BYTES - nbytes));
}

static char *
next_comment(char *at, uint32_t least, uint32_t greatest)
{
	uint32_t	nbytes = between(least, greatest);

	return next_field(at, some_text(nbytes), nbytes);
}

/* ---- fields that several tables have ---- */

static char *
next_address(char *at)
{
	static const char symbols[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ, ";
	char		address[40] = "";
	uint32_t	nbytes = between(10, sizeof(address));

	for (uint32_t i = 0; i < nbytes; i++)
		address[i] = symbols[next_random(sizeof(symbols) - 1)];
	return next_field(at, address, nbytes);
}

static char *
next_phone(char *at, uint32_t nation)
{
	at = next_number(at, nation + 10);
	*at++ = '-';
	at = add_number(at, between(100, 999), 1);
	*at++ = '-';
	at = add_number(at, between(100, 999), 1);
	*at++ = '-';
	return add_number(at, between(1000, 9999), 1);
}

static char *
next_balance(char *at)
{
	return next_cents(at, (int64_t) between(0, 1099998) - 99999);
}

static uint32_t
retail_cents(uint32_t part)
{
	return 90000 + part / 10 % 20001 + 100 * (part % 1000);
}

/* the i-th of the four suppliers of a part */
static uint32_t
supplier_of(uint32_t part, uint32_t i)
{
	uint32_t	nsuppliers = rows(10000);

	return (part + i * (nsuppliers / 4 + (part - 1) / nsuppliers)) %
		nsuppliers + 1;
}

/* ---- files ---- */

static FILE *
create(const char *table)
{
	char		path[4096];
	FILE	   *file = NULL;
	int			length = snprintf(path, sizeof(path), "%s/%s.csv", directory,
								  table);

	if (length > 0 && (size_t) length < sizeof(path))
		file = fopen(path, "w");
	if (file == NULL)
	{
		fprintf(stderr, "tpch: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	setvbuf(file, NULL, _IOFBF, 1 << 20);

	/* the rows of a table do not depend on those before */
	seed_random(first_seed);
	for (; *table != '\0'; table++)
		seed_random(random_state ^ (uint8_t) *table);
	return file;
}

static void
finish(FILE *file)
{
	bool		failed = ferror(file) != 0;

	if (fclose(file) != 0 || failed)
	{
		fprintf(stderr, "tpch: %s\n", strerror(errno));
		exit(1);
	}
}

static char record[4096];

static void
put(FILE *file, char *end)
{
	*end++ = '\n';
	fwrite(record, 1, (size_t) (end - record), file);
}

/* ---- the tables ---- */

static void
write_region(void)
{
	FILE	   *file = create("region");

	for (uint32_t i = 0; i < COUNT(regions); i++)
	{
		char	   *at = add_number(record, i, 1);

		at = next_text(at, regions[i]);
		put(file, next_comment(at, 31, 115));
	}
	finish(file);
}

static void
write_nation(void)
{
	FILE	   *file = create("nation");

	for (uint32_t i = 0; i < COUNT(nations); i++)
	{
		char	   *at = add_number(record, i, 1);

		at = next_text(at, nations[i].name);
		at = next_number(at, nations[i].region);
		put(file, next_comment(at, 31, 114));
	}
	finish(file);
}

/*
 * One supplier of 2,000 has "Customer", some text and "Complaints" in its
 * comment, another one "Recommends".
 */
static char *
next_supplier_comment(char *at, const char *opinion)
{
	char		comment[100];
	uint32_t	nbytes = between(25, sizeof(comment));
	uint32_t	length = (uint32_t) strlen(opinion);
	uint32_t	from = next_random(nbytes - 8 - length + 1);
	uint32_t	to = between(from + 8, nbytes - length);

	memcpy(comment, some_text(nbytes), nbytes);
	memcpy(comment + from, "Customer", 8);
	memcpy(comment + to, opinion, length);
	return next_field(at, comment, nbytes);
}

static void
write_supplier(void)
{
	FILE	   *file = create("supplier");
	uint32_t	nrows = rows(10000);
	uint32_t	complaint = 0;
	uint32_t	praise = 0;

	for (uint32_t i = 1; i <= nrows; i++)
	{
		char	   *at = add_number(record, i, 1);
		uint32_t	nation = next_random(COUNT(nations));

		if (i % 2000 == 1)
		{
			uint32_t	among = nrows - i < 2000 ? nrows - i + 1 : 2000;

			complaint = i + next_random(among);
			praise = i + (complaint - i + 1 + next_random(among - 1)) % among;
		}
		at = next_text(at, "Supplier#");
		at = add_number(at, i, 9);
		at = next_address(at);
		at = next_number(at, nation);
		at = next_phone(at, nation);
		at = next_balance(at);
		if (i == complaint)
			at = next_supplier_comment(at, "Complaints");
		else if (i == praise)
			at = next_supplier_comment(at, "Recommends");
		else
			at = next_comment(at, 25, 100);
		put(file, at);
	}
	finish(file);
}

/* five colors, each another */
static char *
next_part_name(char *at)
{
	uint32_t	chosen[5];

	*at++ = ',';
	for (uint32_t i = 0; i < COUNT(chosen); i++)
	{
		uint32_t	j;

		do
		{
			chosen[i] = next_random(COUNT(colors));
			for (j = 0; chosen[j] != chosen[i]; j++)
				;
		} while (j < i);
		at = add_word(at, colors[chosen[i]]);
	}
	return at - 1;
}

static void
write_part(void)
{
	FILE	   *file = create("part");
	uint32_t	nrows = rows(200000);

	for (uint32_t i = 1; i <= nrows; i++)
	{
		char	   *at = add_number(record, i, 1);
		uint32_t	manufacturer = between(1, 5);

		at = next_part_name(at);
		at = next_text(at, "Manufacturer#");
		at = add_number(at, manufacturer, 1);
		at = next_text(at, "Brand#");
		at = add_number(at, manufacturer * 10 + between(1, 5), 1);
		at = next_text(at, PICK(type_sizes));
		*at++ = ' ';
		at = add_word(at, PICK(type_finishes));
		at = add(at, PICK(type_metals));
		at = next_number(at, between(1, 50));
		at = next_text(at, PICK(container_sizes));
		*at++ = ' ';
		at = add(at, PICK(container_kinds));
		at = next_cents(at, retail_cents(i));
		put(file, next_comment(at, 5, 22));
	}
	finish(file);
}

static void
write_partsupp(void)
{
	FILE	   *file = create("partsupp");
	uint32_t	nparts = rows(200000);

	for (uint32_t part = 1; part <= nparts; part++)
		for (uint32_t i = 0; i < 4; i++)
		{
			char	   *at = add_number(record, part, 1);

			at = next_number(at, supplier_of(part, i));
			at = next_number(at, between(1, 9999));
			at = next_cents(at, between(100, 100000));
			put(file, next_comment(at, 49, 198));
		}
	finish(file);
}

static void
write_customer(void)
{
	FILE	   *file = create("customer");
	uint32_t	nrows = rows(150000);

	for (uint32_t i = 1; i <= nrows; i++)
	{
		char	   *at = add_number(record, i, 1);
		uint32_t	nation = next_random(COUNT(nations));

		at = next_text(at, "Customer#");
		at = add_number(at, i, 9);
		at = next_address(at);
		at = next_number(at, nation);
		at = next_phone(at, nation);
		at = next_balance(at);
		at = next_text(at, PICK(segments));
		put(file, next_comment(at, 29, 116));
	}
	finish(file);
}

/* what an order has of its lines */
typedef struct Lines
{
	uint32_t	nlines;
	uint32_t	nshipped;		/* line status F */
	uint64_t	total;			/* in hundredths of hundredths of cents */
} Lines;

static void
write_line(FILE *file, uint64_t order, uint32_t order_day, Lines *lines)
{
	char	   *at = add_number(record, order, 1);
	uint32_t	part = between(1, rows(200000));
	uint32_t	quantity = between(1, 50);
	uint32_t	price = quantity * retail_cents(part);
	uint32_t	discount = between(0, 10);
	uint32_t	tax = between(0, 8);
	uint32_t	ship_day = order_day + between(1, 121);
	uint32_t	commit_day = order_day + between(30, 90);
	uint32_t	receipt_day = ship_day + between(1, 30);
	bool		shipped = ship_day <= CURRENT_DAY;

	lines->nlines++;
	lines->nshipped += shipped ? 1 : 0;
	lines->total += (uint64_t) price * (100 + tax) * (100 - discount);

	at = next_number(at, part);
	at = next_number(at, supplier_of(part, next_random(4)));
	at = next_number(at, lines->nlines);
	at = next_number(at, quantity);
	at = next_cents(at, price);
	at = next_cents(at, discount);
	at = next_cents(at, tax);
	at = next_text(at, receipt_day > CURRENT_DAY ? "N" :
				   next_random(2) == 0 ? "R" : "A");
	at = next_text(at, shipped ? "F" : "O");
	at = next_text(at, days[ship_day]);
	at = next_text(at, days[commit_day]);
	at = next_text(at, days[receipt_day]);
	at = next_text(at, PICK(instructions));
	at = next_text(at, PICK(modes));
	put(file, next_comment(at, 10, 43));
}

/*
 * Both at once.  Of each 32 order keys the first eight are used, and a third of
 * the customers has no orders.
 */
static void
write_orders_and_lineitem(void)
{
	FILE	   *orders = create("orders");
	FILE	   *lineitem = create("lineitem");
	uint32_t	norders = rows(1500000);
	uint32_t	ncustomers = rows(150000);
	uint32_t	nclerks = rows(1000);

	for (uint32_t i = 0; i < norders; i++)
	{
		uint64_t	order = (uint64_t) i / 8 * 32 + i % 8 + 1;
		uint32_t	day = between(0, LAST_ORDER_DAY);
		uint32_t	nlines = between(1, 7);
		uint32_t	customer;
		Lines		lines = {0, 0, 0};
		char	   *at;

		for (uint32_t j = 0; j < nlines; j++)
			write_line(lineitem, order, day, &lines);

		do
			customer = between(1, ncustomers);
		while (customer % 3 == 0);
		at = add_number(record, order, 1);
		at = next_number(at, customer);
		at = next_text(at, lines.nshipped == nlines ? "F" :
					   lines.nshipped == 0 ? "O" : "P");
		at = next_cents(at, (int64_t) ((lines.total + 5000) / 10000));
		at = next_text(at, days[day]);
		at = next_text(at, PICK(priorities));
		at = next_text(at, "Clerk#");
		at = add_number(at, between(1, nclerks), 9);
		at = next_number(at, 0);
		put(orders, next_comment(at, 19, 78));
	}
	finish(orders);
	finish(lineitem);
}

int
main(int argc, char **argv)
{
	scale = argc > 2 ? strtod(argv[1], NULL) : 0;
	if (!(scale >= 0.01 && scale <= 100))
	{
		fprintf(stderr, "usage: tpch SCALE DIRECTORY [SEED]\n"
				"SCALE is from 0.01 to 100\n");
		return 2;
	}
	directory = argv[2];
	first_seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	make_days();
	make_text();
	write_region();
	write_nation();
	write_supplier();
	write_part();
	write_partsupp();
	write_customer();
	write_orders_and_lineitem();
	return 0;
}
