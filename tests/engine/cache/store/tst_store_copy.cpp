// SPDX-License-Identifier: GPL-3.0-or-later
// Copies of a span store: whole, or not there.
#include "engine/base/error.h"
#include "engine/cache/store/disk_store.h"
#include "tests/engine/cache/store/store_fixture.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <set>
#include <stop_token>
#include <string>

using namespace spanscope;
using namespace spanscope::cache;
using namespace spanscope::cache::test;
using spanscope::product_text::worded;

namespace fs = std::filesystem;

namespace {

std::set<fs::path> namesIn(const fs::path& folder) {
  std::set<fs::path> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path());
  return names;
}

mode_t modeOf(const fs::path& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 0777U;
}

/// As on a full disk: no file becomes larger than that.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &m_before);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = m_before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &m_before); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit m_before{};
};

}  // namespace

class TestStoreCopy : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isAStoreOfItsOwn();
  void failedLeavesNothing();
  void stoppedLeavesNothing();
  void unfinishedCanBeRemoved();
};

void TestStoreCopy::isAStoreOfItsOwn() {
  const TemporaryStore there;
  DiskStore store(there.config());
  QVERIFY(put(store, 0, 2));
  QVERIFY(put(store, 10, 2));
  const fs::path copy = there.folder().parent_path() / "copy";
  UnfinishedFiles unfinished;
  QCOMPARE(copyStore(store, copy, {.unfinished = &unfinished}), std::size_t{2});
  // Nothing of it is unfinished.
  unfinished.removeAll();
  DiskStore copied({.folder = copy, .limit = 1U << 20U});
  QCOMPARE(look(copied, 11), Seen::Right);
  QVERIFY(copied.folder().secret() == store.folder().secret());
  QCOMPARE(modeOf(copy), mode_t{0700});
  QCOMPARE(modeOf(copy / "secret"), mode_t{0600});
  // What is there is not written over.
  QVERIFY_EXCEPTION_THROWN(copyStore(store, copy), OutputFailure);
  QCOMPARE(look(copied, 11), Seen::Right);
  QCOMPARE(copyStore(store, there.folder().parent_path() / "other/"), std::size_t{2});
  QVERIFY(fs::exists(there.folder().parent_path() / "other/secret"));
}

/// Neither a folder nor the secret in it.
void TestStoreCopy::failedLeavesNothing() {
  const TemporaryStore there;
  DiskStore store(there.config());
  QVERIFY(put(store, 0, 8));
  const fs::path parent = there.folder().parent_path();
  const std::set<fs::path> before = namesIn(parent);
  std::string message;
  try {
    const FileSizeLimit full(100);
    copyStore(store, parent / "copy");
  } catch (const OutputFailure& failure) {
    message = failure.what();
  }
  QVERIFY2(message.starts_with((parent / "copy/packs").string()), message.c_str());
  QVERIFY2(message.ends_with(
               worded(std::string(": <system-reports> File too large. Spanscope needs <file-can-written>."))),
           message.c_str());
  QVERIFY(namesIn(parent) == before);
  QVERIFY_EXCEPTION_THROWN(copyStore(store, parent / "none/copy"), OutputFailure);
  QVERIFY(namesIn(parent) == before);
  QCOMPARE(copyStore(store, parent / "copy"), std::size_t{1});
}

void TestStoreCopy::stoppedLeavesNothing() {
  const TemporaryStore there;
  DiskStore store(there.config());
  QVERIFY(put(store, 0, 2));
  const fs::path parent = there.folder().parent_path();
  const std::set<fs::path> before = namesIn(parent);
  std::stop_source stop;
  stop.request_stop();
  QVERIFY_EXCEPTION_THROWN(copyStore(store, parent / "copy", {.stop = stop.get_token()}), Failure);
  QVERIFY(namesIn(parent) == before);
}

/// For a program that must end at once: folders are removed after their files.
void TestStoreCopy::unfinishedCanBeRemoved() {
  const TemporaryStore there;
  const fs::path folder = there.folder().parent_path() / "half";
  UnfinishedFiles unfinished;
  QVERIFY(fs::create_directory(folder));
  unfinished.add(folder);
  std::ofstream(folder / "secret") << "secret";
  unfinished.add(folder / "secret");
  unfinished.removeAll();
  QVERIFY(!fs::exists(folder));
}

SPANSCOPE_TEST(tst_store_copy, TestStoreCopy)
#include "tst_store_copy.moc"
