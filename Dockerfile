# Debian's PostgreSQL with csv_gpu_fdw, whose engine is the CPU's.  docs/install.md
# ("In a container") says how to run it.  BASE: an image of Debian 12 or later.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive
WORKDIR /src
COPY debian debian
RUN apt-get update && apt-get build-dep -y --no-install-recommends ./
COPY Makefile LICENSE *.md *.control *.sql ./
COPY cuda cuda
COPY docs docs
COPY src src
COPY test test
RUN dpkg-buildpackage -us -uc -b

FROM ${BASE}
COPY --from=build /postgresql-*-csv-gpu-fdw_*.deb /tmp/
RUN mkdir -p /etc/postgresql-common/createcluster.d \
	&& echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/none.conf \
	&& apt-get update \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libisal2 /tmp/*.deb \
	&& rm -rf /tmp/*.deb /var/lib/apt/lists/* \
	&& install -d -o postgres -g postgres /run/postgresql \
	&& printf '%s\n' '#!/bin/sh' \
		'# The first start makes the cluster.  Arguments are for postgres.' \
		'set -e' \
		'PATH=$(echo /usr/lib/postgresql/*/bin):$PATH' \
		'if [ ! -s "$PGDATA/PG_VERSION" ]; then' \
		'	echo "${POSTGRES_PASSWORD:?is to be the password of the role postgres}" >/tmp/password' \
		'	initdb -E UTF8 --locale=C.UTF-8 --auth-local=peer --auth-host=scram-sha-256 --pwfile=/tmp/password' \
		'	rm /tmp/password' \
		'	echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"' \
		'fi' \
		'exec postgres -c "listen_addresses=*" "$@"' >/usr/local/bin/start-postgres \
	&& chmod 755 /usr/local/bin/start-postgres
ENV PGDATA=/var/lib/postgresql/data
VOLUME /var/lib/postgresql
EXPOSE 5432
USER postgres
STOPSIGNAL SIGINT
ENTRYPOINT ["start-postgres"]
