/*
 * replay.c
 *		A main() in place of libFuzzer's: runs each file of some directories once.
 *
 *	fuzz_X [-OPTION...] DIRECTORY...
 *
 * For machines on which clang's fuzzers do not run; libFuzzer's options have no effect.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

static void
run_file(const char *directory, const char *name)
{
	char		path[4096];
	uint8_t    *data;
	size_t		nbytes;
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	if (file == NULL || fseek(file, 0, SEEK_END) != 0)
	{
		perror(path);
		exit(1);
	}
	/* exactly as large as the data, as libFuzzer's copy is */
	nbytes = (size_t) ftell(file);
	rewind(file);
	data = malloc(nbytes > 0 ? nbytes : 1);
	if (data == NULL || fread(data, 1, nbytes, file) != nbytes)
	{
		perror(path);
		exit(1);
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, nbytes);
	free(data);
}

int
main(int argc, char **argv)
{
	size_t		nfiles = 0;

	for (int i = 1; i < argc; i++)
	{
		DIR		   *directory;

		if (argv[i][0] == '-')
			continue;
		directory = opendir(argv[i]);
		if (directory == NULL)
		{
			perror(argv[i]);
			return 1;
		}
		for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
			if (entry->d_name[0] != '.')
			{
				run_file(argv[i], entry->d_name);
				nfiles++;
			}
		closedir(directory);
	}
	printf("stat::number_of_executed_units: %zu\n", nfiles);
	return nfiles == 0;
}
