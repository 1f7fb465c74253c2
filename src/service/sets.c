/*
 * sets.c
 *		Keeps descriptors of columns, and lists them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "gpus.h"
#include "sets.h"
#include "wire/store.h"

#define MOST_USERS			16	/* of one set; the first is forgotten first */
#define NUM_LISTS			4096	/* a power of two */

/*
 * Kept columns are expected to answer a query if the rest of a file that grows is at most
 * this part of it
 */
#define REST_SHARE			8

/* descriptors that remain for clients, and for files that they send */
#define SPARE_DESCRIPTORS	256

/* a table that uses a set */
typedef struct CsvUser
{
	TAILQ_ENTRY(CsvUser) of_set;
	LIST_ENTRY(CsvUser) of_name;
	CsvSet	   *set;
	CsvTableName name;
} CsvUser;

static TAILQ_HEAD(CsvSetList, CsvSet) sets = TAILQ_HEAD_INITIALIZER(sets);
static LIST_HEAD(, CsvSet) sets_of_file[NUM_LISTS];
static LIST_HEAD(, CsvUser) users_of_name[NUM_LISTS];
static uint64_t limit = 0;
static uint64_t held = 0;		/* bytes of sets, listed or not, and promised */
static uint64_t nsets = 0;		/* ever made */
static long ndescriptors = 0;	/* of sets and groupings */
static long most_descriptors = 0;

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

uint64_t
csv_sets_bytes(void)
{
	return held;
}

/* ---- freeing sets ---- */

static void
free_set(CsvSet *set)
{
	held -= set->nbytes;
	ndescriptors -= 1 + set->ngroupings;
	if (csv_gpus != NULL)
		csv_gpus->forget(set->number);
	for (int i = 0; i < set->ngroupings; i++)
		close(set->groupings[i].file);
	close(set->file);
	free(set);
}

/* add to the memory of a set; nbytes may be negative */
static void
count_bytes(CsvSet *set, int64_t nbytes)
{
	set->nbytes += (uint64_t) nbytes;
	held += (uint64_t) nbytes;
}

static void
drop_user(CsvSet *set, CsvUser *user)
{
	count_bytes(set, -(int64_t) sizeof(CsvUser));
	TAILQ_REMOVE(&set->users, user, of_set);
	LIST_REMOVE(user, of_name);
	set->nusers--;
	free(user);
}

/* take it out of the lists; free it when no client has it pinned */
static void
drop_set(CsvSet *set)
{
	for (CsvUser *user = TAILQ_FIRST(&set->users), *next; user != NULL; user = next)
	{
		next = TAILQ_NEXT(user, of_set);
		drop_user(set, user);
	}
	TAILQ_REMOVE(&sets, set, by_use);
	LIST_REMOVE(set, of_file);
	set->listed = false;
	if (set->npins == 0)
		free_set(set);
}

/* drop sets, except pinned sets, down to this memory and number of descriptors */
static void
shrink_to(uint64_t most_bytes, long most_files)
{
	CsvSet	   *set = TAILQ_LAST(&sets, CsvSetList);

	while (set != NULL &&
		   (held > most_bytes || ndescriptors > most_files))
	{
		CsvSet	   *before = TAILQ_PREV(set, CsvSetList, by_use);

		if (set->npins == 0)
			drop_set(set);
		set = before;
	}
}

/* a limit that was lowered while the set was pinned applies now */
void
csv_set_unpin(CsvSet *set)
{
	set->npins--;
	if (set->npins > 0)
		return;
	if (!set->listed)
		free_set(set);
	else
		shrink_to(limit, most_descriptors);
}

void
csv_sets_limit(uint64_t nbytes)
{
	struct rlimit files;

	most_descriptors = getrlimit(RLIMIT_NOFILE, &files) == 0 ?
		(long) files.rlim_cur - SPARE_DESCRIPTORS : 0;
	limit = nbytes;
	shrink_to(nbytes, most_descriptors);
}

/* ---- room ---- */

static bool
has_room(uint64_t nbytes)
{
	return nbytes <= limit && held <= limit - nbytes;
}

static bool
make_room(uint64_t nbytes)
{
	if (nbytes > limit)
		return false;
	shrink_to(limit - nbytes, most_descriptors - 1);
	return has_room(nbytes) &&
		ndescriptors < most_descriptors;
}

bool
csv_sets_promise(const CsvRoomMessage *room)
{
	uint64_t	more = room->nbytes > room->before ?
		room->nbytes - room->before : 0;

	if (room->nbytes > limit)
		return false;
	if (held > limit || more > limit - held)
	{
		double		read = room->read_bytes > 0 ? (double) room->read_bytes : 1;

		if ((double) room->nbytes / read * (double) room->file_bytes >
			(double) limit || !make_room(more))
			return false;
	}
	held += more;
	return true;
}

void
csv_sets_give_back(uint64_t nbytes)
{
	held -= nbytes;
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
	if (memcmp(has->declaration, wanted->declaration, CSV_DECLARATION_BYTES) != 0 ||
		(wanted->positions && !has->positions) ||
		(has_bad_values && has->ncolumns != wanted->ncolumns))
		return false;
	for (uint32_t i = 0; i < wanted->ncolumns; i++)
		if (!has_column(has, &wanted->columns[i]))
			return false;
	return true;
}

static bool
is_same_place(const CsvSet *set, const CsvFileIdentity *file)
{
	return set->identity.device == file->device && set->identity.inode == file->inode;
}

/* has the set no columns of this state of the file? */
static bool
is_of_other(const CsvSet *set, const CsvFileIdentity *file)
{
	return set->grows ? !is_same_place(set, file) ||
		set->stretch.to.offset > (uint64_t) file->size :
		!csv_same_file(&set->identity, file);
}

/*
 * The newest set of all of the file, or of a stretch that begins at this
 * offset; or the set of this number.
 */
static CsvSet *
look(const CsvFileIdentity *file, const CsvWanted *wanted, bool grows,
	 uint64_t from,
	 uint64_t number)
{
	CsvSet	   *set;

	LIST_FOREACH(set, &sets_of_file[list_of_file(file)], of_file)
		if (set->grows == grows && !is_of_other(set, file) &&
			(!grows || set->stretch.from.offset == from) &&
			(number == 0 || set->number == number) &&
			answers(&set->wanted, set->has_bad_values, wanted))
			return set;
	return NULL;
}

/* where the last of the stretches ends that follow one another; adds up their rows */
static uint64_t
end_of_stretches(const CsvFileIdentity *file, const CsvWanted *wanted, uint64_t from,
				 uint64_t *nrows)
{
	const CsvSet *set;

	while ((set = look(file, wanted, true, from, 0)) != NULL)
	{
		from = set->stretch.to.offset;
		*nrows += set->nrows;
	}
	return from;
}

bool
csv_sets_look(const CsvFileIdentity *file, const CsvWanted *wanted, uint64_t *nrows)
{
	const CsvSet *set = look(file, wanted, false, 0, 0);
	uint64_t	size = (uint64_t) file->size;

	if (set == NULL)
		return size > 0 &&
			end_of_stretches(file, wanted, 0, nrows) >= size - size / REST_SHARE;
	*nrows += set->nrows;
	return true;
}

/* is it better to read the set's bytes again, together with the bytes behind them? */
static bool
is_short(const CsvSet *set, const CsvFindMessage *find)
{
	uint64_t	size = (uint64_t) find->file.size;
	uint64_t	to = set->stretch.to.offset;
	uint64_t	nrows = 0;

	return end_of_stretches(&find->file, &find->wanted, to, &nrows) < size &&
		size - to >= to - set->stretch.from.offset;
}

/* drop sets of an earlier state of the file, even those in use */
static void
drop_changed(const CsvFileIdentity *file)
{
	CsvSet	   *set = LIST_FIRST(&sets_of_file[list_of_file(file)]);

	while (set != NULL)
	{
		CsvSet	   *next = LIST_NEXT(set, of_file);

		if (is_same_place(set, file) && is_of_other(set, file))
			drop_set(set);
		set = next;
	}
}

/* the table had another file under this name: drop its sets unless others use them */
static void
leave_replaced(const CsvFileIdentity *file,
			   const CsvTableName *name)
{
	CsvUser	   *user = LIST_FIRST(&users_of_name[list_of_name(name)]);

	while (user != NULL)
	{
		CsvUser	   *next = LIST_NEXT(user, of_name);
		CsvSet	   *set = user->set;

		if (is_same_name(&user->name, name) &&
			is_of_other(set, file))
		{
			drop_user(set, user);
			if (set->nusers == 0)
				drop_set(set);
		}
		user = next;
	}
}

/*
 * If there is no memory, or no room within the limit, another user is forgotten, or
 * this one is not recorded.  Only lists show the difference.
 */
static void
add_user(CsvSet *set, const CsvTableName *name)
{
	CsvUser	   *user;

	TAILQ_FOREACH(user, &set->users, of_set)
		if (is_same_name(&user->name, name))
			return;
	if (set->nusers > 0 &&
		(set->nusers == MOST_USERS || !has_room(sizeof(CsvUser))))
		drop_user(set, TAILQ_FIRST(&set->users));
	user = has_room(sizeof(CsvUser)) ? malloc(sizeof(CsvUser)) : NULL;
	if (user == NULL)
		return;
	count_bytes(set, (int64_t) sizeof(CsvUser));
	user->set = set;
	user->name = *name;
	TAILQ_INSERT_TAIL(&set->users, user, of_set);
	LIST_INSERT_HEAD(&users_of_name[list_of_name(name)], user, of_name);
	set->nusers++;
}

CsvSet *
csv_sets_find(const CsvFindMessage *find)
{
	CsvSet	   *set;

	drop_changed(&find->file);
	leave_replaced(&find->file, &find->user);
	set = look(&find->file, &find->wanted, find->grows,
			   find->stretch.from.offset,
			   find->set);
	if (set == NULL || (find->grows && find->set == 0 && is_short(set, find)))
		return NULL;
	set->npins++;
	set->last_used = csv_now_microseconds();
	TAILQ_REMOVE(&sets, set, by_use);
	TAILQ_INSERT_HEAD(&sets, set, by_use);
	add_user(set, &find->user);
	return set;
}

/* ---- keeping ---- */

static CsvSet *
make_set(const CsvFindMessage *columns)
{
	size_t		size = CSV_WANTED_BYTES(CsvSet, columns->wanted.ncolumns);
	CsvSet	   *set = calloc(1, size);

	if (set == NULL)
		return NULL;
	memcpy(&set->wanted, &columns->wanted, size - offsetof(CsvSet, wanted));
	set->identity = columns->file;
	set->has_bad_values = columns->has_bad_values != 0;
	set->grows = columns->grows != 0;
	set->stretch = columns->stretch;
	set->nrows = columns->nrows;
	TAILQ_INIT(&set->users);
	return set;
}

/* has the set all records that another set of the file has? */
static bool
has_records_of(const CsvSet *set, const CsvSet *other)
{
	if (!set->grows)
		return is_same_place(set, &other->identity) &&
			(other->grows || csv_same_file(&other->identity, &set->identity));
	return other->grows && is_same_place(set, &other->identity) &&
		other->stretch.from.offset >= set->stretch.from.offset;
}

/* drop sets that this set can replace, and take over their users */
static void
replace_others(CsvSet *set)
{
	CsvSet	   *other = LIST_FIRST(&sets_of_file[list_of_file(&set->identity)]);

	while (other != NULL)
	{
		CsvSet	   *next = LIST_NEXT(other, of_file);

		if (has_records_of(set, other) &&
			answers(&set->wanted, set->has_bad_values, &other->wanted))
		{
			CsvUser	   *user;

			TAILQ_FOREACH(user, &other->users, of_set)
			{
				add_user(set, &user->name);
			}
			drop_set(other);
		}
		other = next;
	}
}

bool
csv_sets_keep(const CsvFindMessage *columns, int file)
{
	int64_t		taken = csv_memory_file_held(file, true);
	uint64_t	nbytes = (uint64_t) taken +
		CSV_WANTED_BYTES(CsvSet, columns->wanted.ncolumns);
	CsvSet	   *set;

	if (taken < 0 || columns->nrows > CSV_MOST_KEPT_ROWS ||
		(columns->grows &&
		 columns->stretch.from.offset >= columns->stretch.to.offset) ||
		!make_room(nbytes + sizeof(CsvUser)))
		return false;
	set = make_set(columns);
	if (set == NULL)
		return false;
	set->number = ++nsets;
	set->file = file;
	set->last_used = csv_now_microseconds();
	count_bytes(set, (int64_t) nbytes);
	ndescriptors++;
	replace_others(set);
	TAILQ_INSERT_HEAD(&sets, set, by_use);
	LIST_INSERT_HEAD(&sets_of_file[list_of_file(&set->identity)], set, of_file);
	set->listed = true;
	add_user(set, &columns->user);
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
csv_set_grouping(CsvSet *set, const CsvGroupingMessage *keys,
				 bool *may_add)
{
	for (int i = 0; i < set->ngroupings; i++)
		if (is_same_grouping(&set->groupings[i].keys, keys))
			return set->groupings[i].file;
	*may_add = set->ngroupings < CSV_MOST_GROUPINGS && set->listed &&
		make_room(sizeof(uint32_t) * (set->nrows + 1));
	return -1;
}

bool
csv_set_add_grouping(CsvSet *set,
					 const CsvGroupingMessage *keys, int file)
{
	int64_t		nbytes = csv_memory_file_size(file, false);
	int64_t		taken = csv_memory_file_held(file, false);
	bool		may_add = false;

	if (nbytes < 0 || taken < 0 ||
		(uint64_t) nbytes != sizeof(uint32_t) * (set->nrows + 1) ||
		csv_set_grouping(set, keys, &may_add) >= 0 || !may_add ||
		!make_room((uint64_t) taken))
		return false;
	set->groupings[set->ngroupings].keys = *keys;
	set->groupings[set->ngroupings].file = file;
	set->ngroupings++;
	count_bytes(set, taken);
	ndescriptors++;
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
	entry.ncolumns = set->wanted.ncolumns;
	entry.ngroupings = (uint32_t) set->ngroupings;
	entry.on_device = csv_gpus != NULL && csv_gpus->have(set->number);
	if (!write_all(file, &entry, sizeof(entry)) ||
		!write_all(file, set->wanted.columns,
				   sizeof(CsvKeyColumn) * entry.ncolumns))
		return false;
	for (int i = 0; i < set->ngroupings; i++)
		if (!write_all(file, &set->groupings[i].keys, sizeof(CsvGroupingMessage)))
			return false;
	return true;
}

int
csv_sets_list(uint32_t database, int file)
{
	int			n = 0;
	CsvSet	   *set;
	CsvUser	   *user;

	TAILQ_FOREACH(set, &sets, by_use)
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
leave_set(CsvSet *set, uint32_t database, uint32_t table)
{
	CsvUser	   *user = TAILQ_FIRST(&set->users);

	while (user != NULL)
	{
		CsvUser	   *next = TAILQ_NEXT(user, of_set);

		if (user->name.database == database && user->name.table == table)
			drop_user(set, user);
		user = next;
	}
	return set->nusers == 0;
}

uint32_t
csv_sets_forget(const CsvForgetMessage *which)
{
	uint32_t	n = 0;
	CsvSet	   *set = TAILQ_FIRST(&sets);

	while (set != NULL)
	{
		CsvSet	   *next = TAILQ_NEXT(set, by_use);

		if (which->all ||
			(set->number == which->set &&
			 leave_set(set, which->database, which->table)))
		{
			drop_set(set);
			n++;
		}
		set = next;
	}
	return n;
}
