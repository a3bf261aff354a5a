// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/hub/hub_download.h"

#include "engine/base/output_file.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/readable_file.h"
#include "engine/base/stream_digest.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <system_error>
#include <utility>

namespace spanscope::remote {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kGitDigits = 40;
constexpr std::size_t kShaDigits = 64;
/// Attempts in a row that bring no new byte.
constexpr int kMostAttempts = 5;
constexpr std::chrono::milliseconds kLockPause{20};
constexpr const char* kUnfinished = ".incomplete";
constexpr const char* kEtag = "etag";
constexpr const char* kLinkedEtag = "x-linked-etag";
constexpr const char* kLinkedSize = "x-linked-size";
constexpr const char* kLength = "content-length";
constexpr const char* kEncoding = "content-encoding";
constexpr const char* kRange = "content-range";

/// The hub sends something else than it promised. Another attempt would not help.
class Lie final : public Failure {
 public:
  using Failure::Failure;
};

[[noreturn]] void refuseWrite(const fs::path& path, int error, const std::string& expected) {
  const bool isFull = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw OutputFailure(
      {path.string(),
       {},
       isFull ? "The disk is full." : systemReport(error),
       isFull ? "Free space on the disk. The next download continues with the bytes so far." : expected});
}

void makeFolders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder)) refuseWrite(folder, error.value(), "a folder that can be made");
}

std::optional<std::uint64_t> numberOf(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string headerOf(const HttpReply& reply, const char* name) {
  const auto found = reply.headers.find(name);
  return found == reply.headers.end() ? std::string() : found->second;
}

/// W/"abc" and "abc" become abc.
std::string hashOf(std::string etag) {
  if (etag.starts_with("W/")) etag.erase(0, 2);
  std::erase(etag, '"');
  const bool isHash = (etag.size() == kGitDigits || etag.size() == kShaDigits) &&
                      etag.find_first_not_of("0123456789abcdef") == std::string::npos;
  return isHash ? etag : std::string();
}

/// Waits, unless a stop comes first.
void pauseFor(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, time, [] { return false; });
}

fs::path repositoryFolder(const HubPlace& place, const HubListing& listing, const fs::path& below = {}) {
  std::string name = "models--" + listing.repository;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
  return place.cache / below / name;
}

std::optional<std::uint64_t> sizeOf(const fs::path& path) {
  std::error_code error;
  const bool isFile = fs::is_regular_file(path, error);
  const std::uintmax_t size = isFile ? fs::file_size(path, error) : 0;
  return isFile && !error ? std::optional<std::uint64_t>(size) : std::nullopt;
}

/// The lock of huggingface_hub for a blob, held until the destructor.
class BlobLock {
 public:
  /// `waits` is called when another process has the lock. Not held after a stop.
  BlobLock(const fs::path& path, const std::stop_token& stop, const std::function<void()>& waits) {
    constexpr mode_t kMode = 0664;  // users of one cache wait for each other
    bool isFirst = true;
    while (!stop.stop_requested()) {
      m_file = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode));
      if (m_file.number() < 0) refuseWrite(path, errno, "a file that can be locked");
      while (::flock(m_file.number(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) refuseWrite(path, errno, "a file that can be locked");
        if (std::exchange(isFirst, false)) waits();
        pauseFor(kLockPause, stop);
        if (stop.stop_requested()) return;
      }
      // Some versions of huggingface_hub remove the file when they release the lock.
      struct stat own {};
      struct stat named {};
      m_isHeld = ::fstat(m_file.number(), &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
                 own.st_ino == named.st_ino && own.st_dev == named.st_dev;
      if (m_isHeld) return;
    }
  }
  bool isHeld() const { return m_isHeld; }

 private:
  Descriptor m_file{-1};
  bool m_isHeld = false;
};

/// The file blobs/HASH.incomplete with the hash of its bytes.
class Incomplete {
 public:
  Incomplete(fs::path path, std::string hash, std::uint64_t size)
      : m_path(std::move(path)), m_hash(std::move(hash)), m_size(size), m_digest(start()) {
    constexpr mode_t kMode = 0666;  // the umask narrows it, as for all files of the cache
    m_file = Descriptor(::open(m_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode));
    if (m_file.number() < 0) refuseWrite(m_path, errno, "a file that can be written");
  }

  std::uint64_t bytes() const { return m_bytes; }
  bool isWhole() const { return m_bytes == m_size; }
  bool isRight() const { return m_digest.hex() == m_hash; }

  /// Hashes the bytes of an earlier download. Ends early after a stop.
  void readOld(const std::stop_token& stop) {
    struct stat status {};
    if (::fstat(m_file.number(), &status) != 0 || !S_ISREG(status.st_mode))
      refuseWrite(m_path, EINVAL, "a regular file");
    if (static_cast<std::uint64_t>(status.st_size) > m_size) return clear();
    std::vector<char> piece(std::size_t{1} << 20U);
    while (!stop.stop_requested()) {
      const ssize_t count = ::read(m_file.number(), piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) refuseWrite(m_path, errno, "a file that can be read");
      if (count == 0) return;
      m_bytes += static_cast<std::uint64_t>(count);
      if (m_bytes > m_size) return clear();
      m_digest.add({piece.data(), static_cast<std::size_t>(count)});
    }
  }

  void clear() {
    if (::ftruncate(m_file.number(), 0) != 0 || ::lseek(m_file.number(), 0, SEEK_SET) != 0)
      refuseWrite(m_path, errno, "a file that can be written");
    m_bytes = 0;
    m_digest = start();
  }

  void add(std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t count = ::write(m_file.number(), piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) refuseWrite(m_path, count == 0 ? ENOSPC : errno, "a file that can be written");
      m_digest.add(piece.substr(0, static_cast<std::size_t>(count)));
      m_bytes += static_cast<std::uint64_t>(count);
      piece.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void finish(const fs::path& blob) {
    if (::fsync(m_file.number()) != 0) refuseWrite(m_path, errno, "a file that can be written");
    std::error_code error;
    fs::rename(m_path, blob, error);
    if (error) refuseWrite(blob, error.value(), "a file that can be written");
  }

  void remove() {
    std::error_code ignored;
    fs::remove(m_path, ignored);
  }

 private:
  /// Git hashes the size of a file before its bytes.
  StreamDigest start() const {
    if (m_hash.size() == kShaDigits) return StreamDigest(StreamDigest::Kind::Sha256);
    StreamDigest digest(StreamDigest::Kind::Sha1);
    digest.add("blob " + std::to_string(m_size));
    digest.add(std::string_view("\0", 1));
    return digest;
  }

  fs::path m_path;
  std::string m_hash;
  std::uint64_t m_size;
  std::uint64_t m_bytes = 0;
  StreamDigest m_digest;
  Descriptor m_file{-1};
};

/// Makes a relative link from the snapshot to the blob, in one step.
void link(const fs::path& blob, const fs::path& pointer) {
  makeFolders(pointer.parent_path());
  const fs::path target = fs::relative(blob.parent_path(), pointer.parent_path()) / blob.filename();
  std::error_code error;
  if (fs::read_symlink(pointer, error) == target && !error) return;
  const fs::path temporary = pointer.parent_path() / (".spanscope-" + std::to_string(::getpid()) + ".link");
  fs::remove(temporary, error);
  fs::create_symlink(target, temporary, error);
  if (!error) {
    fs::rename(temporary, pointer, error);
    if (error) refuseWrite(pointer, error.value(), "a link that can be made");
    return;
  }
  // A file system without links has the file itself, as huggingface_hub does it.
  fs::rename(blob, pointer, error);
  if (error) refuseWrite(pointer, error.value(), "a file that can be written");
}

class Download {
 public:
  Download(HttpClient& client, const HubPlace& place, const HubListing& listing, const HubDownload& asked,
           std::stop_token stop)
      : m_client(client), m_place(place), m_listing(listing), m_asked(asked), m_stop(std::move(stop)) {}

  std::optional<fs::path> run() {
    if (m_asked.files.empty()) throw Failure({m_listing.repository, {}, "no file", "files of the list"});
    m_progress.files = m_asked.files.size();
    std::uint64_t missing = 0;
    for (const std::string& name : m_asked.files) {
      const HubFile* file = m_listing.find(name);
      if (file == nullptr || !isSafeHubPath(name))
        throw Failure({m_listing.repository, {}, "no file \"" + name + "\"", "a file of the list"});
      m_progress.total += file->bytes;
      const HubFileState state = hubFileState(m_place, m_listing, *file);
      missing += state.isWhole ? 0 : file->bytes;
    }
    if (missing > 0) {
      makeFolders(folder() / "blobs");
      requireRoom(missing - std::min(missing, unfinishedBytes()));
    }
    for (const std::string& name : m_asked.files) {
      m_progress.file = name;
      ++m_progress.number;
      if (!get(*m_listing.find(name))) return std::nullopt;
    }
    writeRef();
    return hubSnapshot(m_place, m_listing);
  }

 private:
  /// The facts about a file in the header lines of the hub.
  struct Facts {
    std::string hash;
    std::uint64_t bytes = 0;
    std::string url;
    std::string query;
  };

  fs::path folder() const { return repositoryFolder(m_place, m_listing); }
  std::string sourceOf(const HubFile& file) const { return m_listing.repository + "/" + file.name; }

  void report() const {
    if (m_asked.report) m_asked.report(m_progress);
  }

  void requireRoom(std::uint64_t bytes) const {
    std::uint64_t free = std::numeric_limits<std::uint64_t>::max();
    if (m_asked.freeBytes) {
      free = m_asked.freeBytes(folder());
    } else {
      std::error_code error;
      const fs::space_info space = fs::space(folder(), error);
      if (!error) free = space.available;
    }
    if (free >= bytes) return;
    throw OutputFailure({folder().string(),
                         {},
                         std::to_string(free) + /*id:hub-little-space*/ " free bytes on the disk",
                         std::to_string(bytes) + " bytes for the files of the model"});
  }

  /// The bytes of earlier downloads that did not end.
  std::uint64_t unfinishedBytes() const {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (fs::directory_iterator entry(folder() / "blobs", error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == kUnfinished) bytes += sizeOf(entry->path()).value_or(0);
    }
    return bytes;
  }

  /// false: stopped.
  bool get(const HubFile& file) {
    const fs::path pointer = hubSnapshot(m_place, m_listing) / fs::path(file.name);
    const std::uint64_t before = m_progress.bytes;
    if (const auto size = sizeOf(pointer); size && (file.bytes == 0 || *size == file.bytes)) {
      m_progress.bytes += *size;
      if (file.bytes == 0) m_progress.total += *size;
      report();
      return true;
    }
    std::optional<Facts> facts = askPatiently(file);
    if (!facts) return false;
    if (file.bytes == 0) {
      m_progress.total += facts->bytes;
      makeFolders(folder() / "blobs");
    }
    const fs::path blob = folder() / "blobs" / facts->hash;
    const fs::path locks = repositoryFolder(m_place, m_listing, ".locks");
    makeFolders(locks);
    const BlobLock lock(locks / (facts->hash + ".lock"), m_stop, [this] {
      m_progress.waitsForOther = true;
      report();
    });
    m_progress.waitsForOther = false;
    if (!lock.isHeld()) return false;
    if (sizeOf(blob) != facts->bytes && !fetch(file, *std::move(facts), blob, before)) return false;
    link(blob, pointer);
    m_progress.bytes = before + sizeOf(pointer).value_or(0);
    report();
    return true;
  }

  /// Whether another attempt follows, after a pause.
  bool triesAgain(int& attempts, std::chrono::seconds wanted = std::chrono::seconds(0)) {
    constexpr std::chrono::milliseconds kLongest{30'000};
    if (++attempts >= kMostAttempts) return false;
    pauseFor(std::min(std::max<std::chrono::milliseconds>(m_place.pause, wanted), kLongest), m_stop);
    return true;
  }

  static bool isBusy(long status) { return status == 429 || status == 408 || status >= 500; }

  /// Nothing: stopped.
  std::optional<Facts> askPatiently(const HubFile& file) {
    int attempts = 0;
    while (!m_stop.stop_requested()) {
      try {
        HubRequest request{.url = m_place.endpoint + "/" + escapedPath(m_listing.repository, true) +
                                  "/resolve/" + m_listing.commit + "/" + escapedPath(file.name, true),
                           .isHead = true,
                           .wanted = {kEtag, kLinkedEtag, kLinkedSize, kLength}};
        const HttpReply reply = sendToHub(m_client, m_place, request, m_stop);
        if (reply.isStopped) return std::nullopt;
        if (isBusy(reply.status) && triesAgain(attempts, std::chrono::seconds(reply.retryAfter.value_or(0))))
          continue;
        return factsOf(file, request.url, reply);
      } catch (const Lie&) {
        throw;
      } catch (const HubAccessFailure&) {
        throw;
      } catch (const Failure& failure) {
        // Only a broken connection has no place.
        if (!failure.error().place.empty() || !triesAgain(attempts)) throw;
      }
    }
    return std::nullopt;
  }

  Facts factsOf(const HubFile& file, const std::string& url, const HttpReply& reply) const {
    const bool isRedirect = reply.status >= 300 && reply.status < 400 && !reply.redirect.empty();
    if (reply.status != 200 && !isRedirect)
      refuseHubReply(m_place, m_listing.repository, sourceOf(file), reply);
    Facts facts;
    const std::string linked = headerOf(reply, kLinkedEtag);
    const std::string etag = linked.empty() ? headerOf(reply, kEtag) : linked;
    facts.hash = hashOf(etag);
    if (facts.hash.empty()) {
      throw Lie({sourceOf(file), "ETag", etag.empty() ? "no hash" : "\"" + shownReply(etag) + "\"",
                 /*id:hub-hash-form*/ "40 or 64 hexadecimal digits, to check the file"});
    }
    std::string size = headerOf(reply, kLinkedSize);
    if (size.empty() && !isRedirect) size = headerOf(reply, kLength);
    const std::optional<std::uint64_t> bytes = size.empty() && file.bytes > 0 ? file.bytes : numberOf(size);
    if (!bytes) throw Lie({sourceOf(file), "size", "\"" + shownReply(size) + "\"", "a number of bytes"});
    if (file.bytes > 0 && *bytes != file.bytes) {
      throw Lie({sourceOf(file), "size",
                 std::to_string(*bytes) + /*id:hub-size-differs*/ " bytes in the answer for the file",
                 std::to_string(file.bytes) + " bytes, as in the list"});
    }
    facts.bytes = *bytes;
    const std::string target = isRedirect ? reply.redirect.substr(0, reply.redirect.find('#')) : url;
    const std::size_t mark = target.find('?');
    facts.url = target.substr(0, mark);
    if (mark != std::string::npos) facts.query = target.substr(mark + 1);
    return facts;
  }

  /// Brings the missing bytes of a blob. false: stopped.
  bool fetch(const HubFile& file, Facts facts, const fs::path& blob, std::uint64_t before) {
    Incomplete part(blob.string() + kUnfinished, facts.hash, facts.bytes);
    part.readOld(m_stop);
    bool hasOld = part.bytes() > 0;
    requireRoom(facts.bytes - part.bytes());
    int attempts = 0;
    while (!m_stop.stop_requested()) {
      m_progress.bytes = before + part.bytes();
      report();
      if (part.isWhole()) {
        if (part.isRight()) {
          part.finish(blob);
          return true;
        }
        // The wrong bytes may be those of an earlier download.
        if (!std::exchange(hasOld, false)) {
          part.remove();
          throw Lie({sourceOf(file),
                     {},
                     /*id:hub-wrong-hash*/ "bytes with another hash",
                     (facts.hash.size() == kShaDigits ? "SHA-256 " : "hash of git ") + facts.hash});
        }
        part.clear();
        continue;
      }
      const std::uint64_t begin = part.bytes();
      std::string problem;
      std::chrono::seconds wanted{0};
      try {
        const HttpReply reply = receive(file, facts, part, before);
        if (reply.isStopped) return false;
        problem = reply.brokenBy;
        const bool isGood = reply.status == 200 || reply.status == 206;
        if (!isGood) {
          // The old bytes may reach beyond the file, and signed addresses expire.
          constexpr long kBeyond = 416;
          if (reply.status == kBeyond) part.clear();
          const bool mayHelp = reply.status == kBeyond || reply.status == 403 || isBusy(reply.status);
          wanted = std::chrono::seconds(reply.retryAfter.value_or(0));
          problem = "status " + std::to_string(reply.status) + " of " + originOf(facts.url);
          const bool isHub = originOf(facts.url) == originOf(m_place.endpoint);
          if (isHub && (!mayHelp || attempts + 1 >= kMostAttempts))
            refuseHubReply(m_place, m_listing.repository, sourceOf(file), reply);
          if (!mayHelp) attempts = kMostAttempts;
        } else if (problem.empty() && !part.isWhole()) {
          problem = "the end of the answer";
        }
      } catch (const Lie&) {
        if (part.bytes() == 0) part.remove();
        throw;
      } catch (const OutputFailure&) {
        throw;
      } catch (const HubAccessFailure&) {
        throw;
      } catch (const Failure& failure) {
        if (failure.error().place == "redirect" || failure.error().place == "address") throw;
        problem = failure.error().found;
      }
      if (part.isWhole()) continue;
      if (part.bytes() > begin) attempts = 0;
      if (!triesAgain(attempts, wanted)) {
        throw Failure({sourceOf(file), "byte " + std::to_string(part.bytes()), problem,
                       /*id:hub-rest-of-file*/ "the rest of the file. The next download continues here"});
      }
      std::optional<Facts> newer = askPatiently(file);
      if (!newer) return false;
      if (newer->hash != facts.hash || newer->bytes != facts.bytes)
        throw Lie({sourceOf(file), {}, "a file that changed during the download", "hash " + facts.hash});
      facts = *std::move(newer);
    }
    return false;
  }

  HttpReply receive(const HubFile& file, const Facts& facts, Incomplete& part, std::uint64_t before) {
    HubRequest request{.url = facts.url, .query = facts.query, .wanted = {kLength, kEncoding, kRange}};
    const std::uint64_t begin = part.bytes();
    if (begin > 0) request.headLines.push_back("Range: bytes=" + std::to_string(begin) + "-");
    request.mostBytes = std::numeric_limits<std::int64_t>::max();  // the pieces are counted below
    const auto refuse = [&](const std::string& found, const std::string& expected) {
      throw Lie({sourceOf(file), {}, found, expected});
    };
    const std::string promised = std::to_string(facts.bytes) + " bytes, as the server announced";
    request.begins = [&](const HttpReply& reply) {
      if (reply.status == 200) {
        // The server has no ranges, and sends the whole file.
        if (part.bytes() > 0) part.clear();
      } else {
        const std::string range = "bytes " + std::to_string(begin) + "-" + std::to_string(facts.bytes - 1) +
                                  "/" + std::to_string(facts.bytes);
        if (headerOf(reply, kRange) != range)
          refuse("\"" + shownReply(headerOf(reply, kRange)) + "\"", "Content-Range: " + range);
      }
      const std::string length = headerOf(reply, kLength);
      const std::string encoding = headerOf(reply, kEncoding);
      if (length.empty() || (!encoding.empty() && encoding != "identity")) return;
      if (numberOf(length) != facts.bytes - part.bytes())
        refuse("\"" + shownReply(length) + /*id:hub-other-size*/ "\" bytes in an answer", promised);
    };
    return sendToHub(m_client, m_place, request, m_stop, [&](std::string_view piece) {
      if (piece.size() > facts.bytes - part.bytes()) {
        part.remove();
        refuse(/*id:hub-too-much*/ "more bytes", promised);
      }
      part.add(piece);
      m_progress.bytes = before + part.bytes();
      report();
    });
  }

  /// Names the commit of a branch or tag, for programs without a network.
  void writeRef() const {
    if (m_listing.revision == m_listing.commit) return;
    const fs::path ref = folder() / "refs" / fs::path(m_listing.revision);
    makeFolders(ref.parent_path());
    const OutputRules rules;
    if (const std::optional<Error> error = writeFile(ref, m_listing.commit, rules))
      throw OutputFailure(*error);
  }

  HttpClient& m_client;
  const HubPlace& m_place;
  const HubListing& m_listing;
  const HubDownload& m_asked;
  std::stop_token m_stop;
  HubProgress m_progress;
};

}  // namespace

fs::path hubSnapshot(const HubPlace& place, const HubListing& listing) {
  return repositoryFolder(place, listing) / "snapshots" / listing.commit;
}

HubFileState hubFileState(const HubPlace& place, const HubListing& listing, const HubFile& file) {
  const std::optional<std::uint64_t> size = sizeOf(hubSnapshot(place, listing) / fs::path(file.name));
  const bool isWhole = size && (file.bytes == 0 || *size == file.bytes);
  return {.bytes = isWhole ? *size : 0, .isWhole = isWhole};
}

std::optional<fs::path> downloadFromHub(HttpClient& client, const HubPlace& place, const HubListing& listing,
                                        const HubDownload& download, const std::stop_token& stop) {
  if (place.cache.empty())
    throw Failure({"cache of Hugging Face", {}, "no folder", "HF_HOME, HF_HUB_CACHE or HOME"});
  return Download(client, place, listing, download, stop).run();
}

}  // namespace spanscope::remote
