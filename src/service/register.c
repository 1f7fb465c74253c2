/*
 * register.c
 *		Keeps descriptors of columns, and lists them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "gpus.h"
#include "register.h"
#include "wire/store.h"

#define MOST_GROUPINGS		8	/* of one set; they stay as long as the set */
#define MOST_USERS			16	/* of one set; the first is forgotten first */
#define NUM_LISTS			4096	/* a power of two */

/* descriptors that remain for clients, and for files that they send */
#define SPARE_DESCRIPTORS	256

/* a table that uses a set */
typedef struct User
{
	TAILQ_ENTRY(User) of_set;
	LIST_ENTRY(User) of_name;
	CsvSet	   *set;
	CsvTableName name;
} User;

typedef struct Grouping
{
	CsvGroupingMessage keys;
	int			file;
} Grouping;

struct CsvSet
{
	TAILQ_ENTRY(CsvSet) by_use;
	LIST_ENTRY(CsvSet) of_file;
	uint64_t	number;
	CsvFileIdentity identity;
	CsvWanted  *wanted;			/* allocated for its columns only */
	bool		has_bad_values;
	uint64_t	nrows;
	uint64_t	nbytes;			/* of memory files, and of this set's data */
	int			file;
	int			ngroupings;
	Grouping	groupings[MOST_GROUPINGS];
	TAILQ_HEAD(Users, User) users;
	int			nusers;
	int			npins;
	bool		listed;			/* otherwise it goes with its last pin */
	int64_t		last_used;
};

struct CsvSets
{
	TAILQ_HEAD(CsvSetList, CsvSet) sets;	/* the last used is the first */
	LIST_HEAD(SetsOfFile, CsvSet) of_file[NUM_LISTS];
	LIST_HEAD(UsersOfName, User) of_name[NUM_LISTS];
	uint64_t	limit;
	uint64_t	nbytes;			/* of sets, listed or not, and promised */
	uint64_t	nsets;			/* ever made */
	long		ndescriptors;	/* of sets and groupings */
	long		most_descriptors;
};

static int64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (int64_t) time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* ---- lists ---- */

static uint64_t
add_to_hash(uint64_t hash, const void *bytes, size_t nbytes)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < nbytes; i++)
		hash = (hash ^ at[i]) * UINT64_C(1099511628211);
	return hash;
}

/* a file keeps its number whatever its contents are */
static uint32_t
list_of_file(const CsvFileIdentity *file)
{
	uint64_t	hash = add_to_hash(0, &file->device, sizeof(file->device));

	hash = add_to_hash(hash, &file->inode, sizeof(file->inode));
	return (uint32_t) (hash >> 32) % NUM_LISTS;
}

static uint32_t
list_of_name(const CsvTableName *name)
{
	uint64_t	hash = add_to_hash(0, &name->table, sizeof(name->table));

	hash = add_to_hash(hash, name->filename, strlen(name->filename));
	return (uint32_t) (hash >> 32) % NUM_LISTS;
}

static bool
is_same_name(const CsvTableName *a, const CsvTableName *b)
{
	return a->database == b->database && a->table == b->table &&
		strcmp(a->filename, b->filename) == 0;
}

CsvSets *
csv_register_create(void)
{
	CsvSets *all = calloc(1, sizeof(CsvSets));
	struct rlimit files;

	if (all == NULL)
		return NULL;
	TAILQ_INIT(&all->sets);
	all->most_descriptors = getrlimit(RLIMIT_NOFILE, &files) == 0 ?
		(long) files.rlim_cur - SPARE_DESCRIPTORS : 0;
	return all;
}

uint64_t
csv_register_bytes(const CsvSets *all)
{
	return all->nbytes;
}

bool
csv_register_is_empty(const CsvSets *all)
{
	return TAILQ_EMPTY(&all->sets);
}

uint64_t
csv_set_number(const CsvSet *set)
{
	return set->number;
}

uint64_t
csv_set_nrows(const CsvSet *set)
{
	return set->nrows;
}

int
csv_set_file(const CsvSet *set)
{
	return set->file;
}

/* ---- freeing sets ---- */

static void
free_set(CsvSets *all, CsvSet *set)
{
	all->nbytes -= set->nbytes;
	all->ndescriptors -= 1 + set->ngroupings;
	if (csv_gpus != NULL)
		csv_gpus->forget(set->number);
	for (int i = 0; i < set->ngroupings; i++)
		close(set->groupings[i].file);
	close(set->file);
	free(set->wanted);
	free(set);
}

/* add to the memory of a set; nbytes may be negative */
static void
count_bytes(CsvSets *all, CsvSet *set, int64_t nbytes)
{
	set->nbytes += (uint64_t) nbytes;
	all->nbytes += (uint64_t) nbytes;
}

static void
drop_user(CsvSets *all, CsvSet *set, User *user)
{
	count_bytes(all, set, -(int64_t) sizeof(User));
	TAILQ_REMOVE(&set->users, user, of_set);
	LIST_REMOVE(user, of_name);
	set->nusers--;
	free(user);
}

/* take it out of the lists; free it when no client has it pinned */
static void
drop_set(CsvSets *all, CsvSet *set)
{
	for (User *user = TAILQ_FIRST(&set->users), *next; user != NULL; user = next)
	{
		next = TAILQ_NEXT(user, of_set);
		drop_user(all, set, user);
	}
	TAILQ_REMOVE(&all->sets, set, by_use);
	LIST_REMOVE(set, of_file);
	set->listed = false;
	if (set->npins == 0)
		free_set(all, set);
}

/* drop sets, except pinned sets, down to this memory and number of descriptors */
static void
shrink_to(CsvSets *all, uint64_t nbytes, long ndescriptors)
{
	CsvSet	   *set = TAILQ_LAST(&all->sets, CsvSetList);

	while (set != NULL &&
		   (all->nbytes > nbytes || all->ndescriptors > ndescriptors))
	{
		CsvSet	   *before = TAILQ_PREV(set, CsvSetList, by_use);

		if (set->npins == 0)
			drop_set(all, set);
		set = before;
	}
}

/* a limit that was lowered while the set was pinned applies now */
void
csv_register_unpin(CsvSets *all, CsvSet *set)
{
	set->npins--;
	if (set->npins > 0)
		return;
	if (!set->listed)
		free_set(all, set);
	else
		shrink_to(all, all->limit, all->most_descriptors);
}

void
csv_register_free(CsvSets *all)
{
	for (CsvSet *set = TAILQ_FIRST(&all->sets), *next; set != NULL; set = next)
	{
		next = TAILQ_NEXT(set, by_use);
		drop_set(all, set);
	}
	free(all);
}

void
csv_register_limit(CsvSets *all, uint64_t nbytes)
{
	all->limit = nbytes;
	shrink_to(all, nbytes, all->most_descriptors);
}

/* ---- room ---- */

static bool
has_room(const CsvSets *all, uint64_t nbytes)
{
	return nbytes <= all->limit && all->nbytes <= all->limit - nbytes;
}

static bool
make_room(CsvSets *all, uint64_t nbytes)
{
	if (nbytes > all->limit)
		return false;
	shrink_to(all, all->limit - nbytes, all->most_descriptors - 1);
	return has_room(all, nbytes) &&
		all->ndescriptors < all->most_descriptors;
}

bool
csv_register_promise(CsvSets *all, uint64_t before,
					 const CsvRoomMessage *room)
{
	uint64_t	more = room->nbytes > before ? room->nbytes - before : 0;

	if (room->nbytes > all->limit)
		return false;
	if (all->nbytes > all->limit || more > all->limit - all->nbytes)
	{
		double		read = room->read_bytes > 0 ? (double) room->read_bytes : 1;

		if ((double) room->nbytes / read * (double) room->file_bytes >
			(double) all->limit || !make_room(all, more))
			return false;
	}
	all->nbytes += more;
	return true;
}

void
csv_register_give_back(CsvSets *all, uint64_t nbytes)
{
	all->nbytes -= nbytes;
}

/* ---- finding ---- */

static bool
has_column(const CsvWanted *has, const CsvKeyColumn *column)
{
	for (uint32_t i = 0; i < has->ncolumns; i++)
		if (has->columns[i].attnum == column->attnum)
			return has->columns[i].decimal || !column->decimal;
	return false;
}

/* does a set answer all that is wanted of the same file? */
static bool
answers(const CsvWanted *has, bool has_bad_values, const CsvWanted *wanted)
{
	if (memcmp(has->meaning, wanted->meaning, CSV_MEANING_BYTES) != 0 ||
		(wanted->positions && !has->positions) ||
		(has_bad_values && has->ncolumns != wanted->ncolumns))
		return false;
	for (uint32_t i = 0; i < wanted->ncolumns; i++)
		if (!has_column(has, &wanted->columns[i]))
			return false;
	return true;
}

static CsvSet *
find_set(const CsvSets *all, const CsvFileIdentity *file,
		 const CsvWanted *wanted)
{
	CsvSet	   *set;

	LIST_FOREACH(set, &all->of_file[list_of_file(file)], of_file)
		if (csv_same_file(&set->identity, file) &&
			answers(set->wanted, set->has_bad_values, wanted))
			return set;
	return NULL;
}

const CsvSet *
csv_register_look(const CsvSets *all, const CsvFileIdentity *file,
				  const CsvWanted *wanted)
{
	return find_set(all, file, wanted);
}

/* drop sets of an earlier state of the file, even those in use */
static void
drop_changed(CsvSets *all, const CsvFileIdentity *file)
{
	CsvSet	   *set = LIST_FIRST(&all->of_file[list_of_file(file)]);

	while (set != NULL)
	{
		CsvSet	   *next = LIST_NEXT(set, of_file);

		if (set->identity.device == file->device &&
			set->identity.inode == file->inode &&
			!csv_same_file(&set->identity, file))
			drop_set(all, set);
		set = next;
	}
}

/* the table had another file under this name: drop its sets unless others use them */
static void
leave_replaced(CsvSets *all, const CsvFileIdentity *file,
			   const CsvTableName *name)
{
	User	   *user = LIST_FIRST(&all->of_name[list_of_name(name)]);

	while (user != NULL)
	{
		User	   *next = LIST_NEXT(user, of_name);
		CsvSet	   *set = user->set;

		if (is_same_name(&user->name, name) &&
			!csv_same_file(&set->identity, file))
		{
			drop_user(all, set, user);
			if (set->nusers == 0)
				drop_set(all, set);
		}
		user = next;
	}
}

/*
 * If there is no memory, or no room within the limit, another user is forgotten, or
 * this one is not recorded.  Only lists show the difference.
 */
static void
add_user(CsvSets *all, CsvSet *set, const CsvTableName *name)
{
	User	   *user;

	TAILQ_FOREACH(user, &set->users, of_set)
		if (is_same_name(&user->name, name))
			return;
	if (set->nusers > 0 &&
		(set->nusers == MOST_USERS || !has_room(all, sizeof(User))))
		drop_user(all, set, TAILQ_FIRST(&set->users));
	user = has_room(all, sizeof(User)) ? malloc(sizeof(User)) : NULL;
	if (user == NULL)
		return;
	count_bytes(all, set, (int64_t) sizeof(User));
	user->set = set;
	user->name = *name;
	TAILQ_INSERT_TAIL(&set->users, user, of_set);
	LIST_INSERT_HEAD(&all->of_name[list_of_name(name)], user, of_name);
	set->nusers++;
}

CsvSet *
csv_register_find(CsvSets *all, const CsvFileIdentity *file,
				  const CsvWanted *wanted, const CsvTableName *user)
{
	CsvSet	   *set;

	drop_changed(all, file);
	leave_replaced(all, file, user);
	set = find_set(all, file, wanted);
	if (set == NULL)
		return NULL;
	set->npins++;
	set->last_used = now();
	TAILQ_REMOVE(&all->sets, set, by_use);
	TAILQ_INSERT_HEAD(&all->sets, set, by_use);
	add_user(all, set, user);
	return set;
}

/* ---- keeping ---- */

static CsvSet *
make_set(const CsvFindMessage *columns)
{
	size_t		size = offsetof(CsvWanted, columns) +
		sizeof(CsvKeyColumn) * columns->wanted.ncolumns;
	CsvSet	   *set = calloc(1, sizeof(CsvSet));

	if (set == NULL)
		return NULL;
	set->wanted = malloc(size);
	if (set->wanted == NULL)
	{
		free(set);
		return NULL;
	}
	memcpy(set->wanted, &columns->wanted, size);
	set->identity = columns->file;
	set->has_bad_values = columns->has_bad_values != 0;
	set->nrows = columns->nrows;
	TAILQ_INIT(&set->users);
	return set;
}

/* drop sets that this set can replace, and take over their users */
static void
replace_others(CsvSets *all, CsvSet *set)
{
	CsvSet	   *other = LIST_FIRST(&all->of_file[list_of_file(&set->identity)]);

	while (other != NULL)
	{
		CsvSet	   *next = LIST_NEXT(other, of_file);

		if (csv_same_file(&other->identity, &set->identity) &&
			answers(set->wanted, set->has_bad_values, other->wanted))
		{
			User	   *user;

			TAILQ_FOREACH(user, &other->users, of_set)
			{
				add_user(all, set, &user->name);
			}
			drop_set(all, other);
		}
		other = next;
	}
}

bool
csv_register_keep(CsvSets *all, const CsvFindMessage *columns, int file)
{
	int64_t		held = csv_memory_file_held(file, true);
	uint64_t	nbytes = (uint64_t) held + sizeof(CsvSet) +
		offsetof(CsvWanted, columns) +
		sizeof(CsvKeyColumn) * columns->wanted.ncolumns;
	CsvSet	   *set;

	if (held < 0 || columns->nrows > CSV_MOST_KEPT_ROWS ||
		!make_room(all, nbytes + sizeof(User)))
		return false;
	set = make_set(columns);
	if (set == NULL)
		return false;
	set->number = ++all->nsets;
	set->file = file;
	set->last_used = now();
	count_bytes(all, set, (int64_t) nbytes);
	all->ndescriptors++;
	replace_others(all, set);
	TAILQ_INSERT_HEAD(&all->sets, set, by_use);
	LIST_INSERT_HEAD(&all->of_file[list_of_file(&set->identity)], set, of_file);
	set->listed = true;
	add_user(all, set, &columns->user);
	return true;
}

/* ---- groupings ---- */

static bool
is_same_grouping(const CsvGroupingMessage *a, const CsvGroupingMessage *b)
{
	return a->nkeys == b->nkeys &&
		memcmp(a->keys, b->keys, sizeof(CsvGroupingKey) * a->nkeys) == 0;
}

int
csv_set_grouping(CsvSets *all, CsvSet *set, const CsvGroupingMessage *keys,
				 bool *may_add)
{
	for (int i = 0; i < set->ngroupings; i++)
		if (is_same_grouping(&set->groupings[i].keys, keys))
			return set->groupings[i].file;
	*may_add = set->ngroupings < MOST_GROUPINGS && set->listed &&
		make_room(all, sizeof(uint32_t) * (set->nrows + 1));
	return -1;
}

bool
csv_set_add_grouping(CsvSets *all, CsvSet *set,
					 const CsvGroupingMessage *keys, int file)
{
	int64_t		nbytes = csv_memory_file_size(file, false);
	int64_t		held = csv_memory_file_held(file, false);
	bool		may_add = false;

	if (nbytes < 0 || held < 0 ||
		(uint64_t) nbytes != sizeof(uint32_t) * (set->nrows + 1) ||
		csv_set_grouping(all, set, keys, &may_add) >= 0 || !may_add ||
		!make_room(all, (uint64_t) held))
		return false;
	set->groupings[set->ngroupings].keys = *keys;
	set->groupings[set->ngroupings].file = file;
	set->ngroupings++;
	count_bytes(all, set, held);
	all->ndescriptors++;
	return true;
}

/* ---- lists for users ---- */

static bool
write_all(int file, const void *bytes, size_t nbytes)
{
	return write(file, bytes, nbytes) == (ssize_t) nbytes;
}

static bool
write_entry(const CsvSet *set, const CsvTableName *user, int file)
{
	CsvListEntry entry;

	memset(&entry, 0, sizeof(entry));
	entry.set = set->number;
	entry.nrows = set->nrows;
	entry.nbytes = set->nbytes;
	entry.last_used = set->last_used;
	entry.user = *user;
	entry.ncolumns = set->wanted->ncolumns;
	entry.ngroupings = (uint32_t) set->ngroupings;
	entry.on_device = csv_gpus != NULL && csv_gpus->have(set->number);
	if (!write_all(file, &entry, sizeof(entry)) ||
		!write_all(file, set->wanted->columns,
				   sizeof(CsvKeyColumn) * entry.ncolumns))
		return false;
	for (int i = 0; i < set->ngroupings; i++)
		if (!write_all(file, &set->groupings[i].keys, sizeof(CsvGroupingMessage)))
			return false;
	return true;
}

int
csv_register_list(const CsvSets *all, uint32_t database, int file)
{
	int			n = 0;
	CsvSet	   *set;
	User	   *user;

	TAILQ_FOREACH(set, &all->sets, by_use)
	{
		TAILQ_FOREACH(user, &set->users, of_set)
		{
			if (user->name.database != database)
				continue;
			if (!write_entry(set, &user->name, file))
				return -1;
			n++;
		}
	}
	return n;
}

/* the table no longer uses the set; true: no table does */
static bool
leave_set(CsvSets *all, CsvSet *set, uint32_t database, uint32_t table)
{
	User	   *user = TAILQ_FIRST(&set->users);

	while (user != NULL)
	{
		User	   *next = TAILQ_NEXT(user, of_set);

		if (user->name.database == database && user->name.table == table)
			drop_user(all, set, user);
		user = next;
	}
	return set->nusers == 0;
}

uint32_t
csv_register_forget(CsvSets *all, const CsvForgetMessage *which)
{
	uint32_t	n = 0;
	CsvSet	   *set = TAILQ_FIRST(&all->sets);

	while (set != NULL)
	{
		CsvSet	   *next = TAILQ_NEXT(set, by_use);

		if (which->all ||
			(set->number == which->set &&
			 leave_set(all, set, which->database, which->table)))
		{
			drop_set(all, set);
			n++;
		}
		set = next;
	}
	return n;
}
