// A folder as if it were a small file system: put before a program's C library by LD_PRELOAD.
//
// Regular files in SMALL_DISK have SMALL_DISK_BYTES together: what would make them more is refused with ENOSPC. Where
// SMALL_DISK_READ_ONLY is set, nothing there can be made, or opened to be written: EROFS.
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

template <typename Function> Function* next(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define NEXT(name) next(&name, #name)

bool within(const std::string& path) {
    const char* folder = std::getenv("SMALL_DISK");
    if (!folder) return false;
    const size_t length = std::strlen(folder);
    return path.compare(0, length, folder) == 0 && (path.size() == length || path[length] == '/');
}

std::string path_of(int file) {
    char name[PATH_MAX];
    const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name, sizeof name);
    return length < 0 ? "" : std::string(name, length);
}

std::string path_at(int folder, const char* path) {
    return path[0] == '/' || folder == AT_FDCWD ? path : path_of(folder) + "/" + path;
}

long long used(const std::string& folder) {
    long long bytes = 0;
    DIR* listing = opendir(folder.c_str());
    if (!listing) return 0;
    while (const dirent* entry = readdir(listing)) {
        const std::string name = entry->d_name, path = folder + "/" + name;
        struct stat found;
        if (name == "." || name == ".." || lstat(path.c_str(), &found)) continue;
        bytes += S_ISDIR(found.st_mode) ? used(path) : S_ISREG(found.st_mode) ? found.st_size : 0;
    }
    closedir(listing);
    return bytes;
}

/// Whether these bytes, written to a file from there on, are too many; errno then says so.
bool is_full(int file, long long from, size_t size) {
    const char* limit = std::getenv("SMALL_DISK_BYTES");
    struct stat found;
    if (!limit || !within(path_of(file)) || fstat(file, &found) || !S_ISREG(found.st_mode)) return false;
    const long long more = from + static_cast<long long>(size) - found.st_size;
    if (more <= 0 || used(std::getenv("SMALL_DISK")) + more <= std::atoll(limit)) return false;
    errno = ENOSPC;
    return true;
}

/// Whether nothing may be made or written there; errno then says so.
bool is_read_only(const std::string& path) {
    if (!std::getenv("SMALL_DISK_READ_ONLY") || !within(path)) return false;
    errno = EROFS;
    return true;
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT; }

mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, size_t size) {
    return is_full(file, lseek(file, 0, SEEK_CUR), size) ? -1 : NEXT(write)(file, data, size);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t from) {
    return is_full(file, from, size) ? -1 : NEXT(pwrite)(file, data, size, from);
}

ssize_t pwrite64(int file, const void* data, size_t size, off64_t from) {
    return is_full(file, from, size) ? -1 : NEXT(pwrite64)(file, data, size, from);
}

#define OPEN(name)                                                                                      \
    int name(const char* path, int flags, ...) {                                                        \
        va_list rest;                                                                                   \
        va_start(rest, flags);                                                                          \
        const mode_t mode = mode_of(flags, rest);                                                       \
        va_end(rest);                                                                                   \
        return writes(flags) && is_read_only(path) ? -1 : NEXT(name)(path, flags, mode);                \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                                                   \
    int name(int folder, const char* path, int flags, ...) {                                            \
        va_list rest;                                                                                   \
        va_start(rest, flags);                                                                          \
        const mode_t mode = mode_of(flags, rest);                                                       \
        va_end(rest);                                                                                   \
        return writes(flags) && is_read_only(path_at(folder, path)) ? -1 : NEXT(name)(folder, path, flags, mode); \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

int mkdir(const char* path, mode_t mode) { return is_read_only(path) ? -1 : NEXT(mkdir)(path, mode); }

int access(const char* path, int how) { return how & W_OK && is_read_only(path) ? -1 : NEXT(access)(path, how); }
}
