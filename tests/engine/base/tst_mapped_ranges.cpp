// SPDX-License-Identifier: GPL-3.0-or-later
// Files that lose their end while they are mapped read as zeros and say so; other signals of the kind do what
// they did before.
#include "engine/base/readable_file.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <thread>
#include <vector>

using namespace spanscope;

namespace {

constexpr std::size_t kPages = 64;

std::size_t pageSize() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// A file of ones, that many pages long.
std::filesystem::path writeOnes(const QTemporaryDir& folder, const char* name, std::size_t pages = kPages) {
  QFile file(folder.filePath(QString::fromLatin1(name)));
  const QByteArray ones(static_cast<qsizetype>(pages * pageSize()), '\1');
  if (!file.open(QIODevice::WriteOnly) || file.write(ones) != ones.size()) qFatal("no file");
  return file.fileName().toStdString();
}

MappedBytes map(const std::filesystem::path& path) {
  return std::move(*ReadableFile::open(path, LinkRule::Follow)->map());
}

std::size_t sumOf(std::span<const std::byte> bytes) {
  std::size_t sum = 0;
  for (const std::byte byte : bytes) sum += std::to_integer<std::size_t>(byte);
  return sum;
}

/// How a child process ends that does this: the number of its signal, or 0.
template <class Work>
int signalOf(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

class TestMappedRanges : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The test framework catches the signal itself, to report where a test ended.
  void initTestCase() { std::signal(SIGBUS, SIG_DFL); }

  void whatIsGoneReadsAsZeros() {
    const QTemporaryDir folder;
    const std::filesystem::path path = writeOnes(folder, "ones");
    const MappedBytes bytes = map(path);
    const std::size_t kept = kPages / 2 * pageSize();
    QCOMPARE(sumOf(bytes.get().first(kept)), kept);
    QVERIFY(!bytes.isCut());
    std::filesystem::resize_file(path, kept);
    QCOMPARE(sumOf(bytes.get()), kept);
    QVERIFY(bytes.isCut());
    // Once more, by another mapping at what may be the same place.
    const MappedBytes other = map(writeOnes(folder, "other"));
    QCOMPARE(sumOf(other.get()), kPages * pageSize());
    QVERIFY(!other.isCut() && bytes.isCut());
  }

  /// A page that is left in part is filled up with zeros by the system, which sends no signal.
  void aPageThatIsLeftInPartCounts() {
    const QTemporaryDir folder;
    const std::filesystem::path path = writeOnes(folder, "ones");
    const MappedBytes bytes = map(path);
    std::filesystem::resize_file(path, kPages * pageSize() - 1);
    QCOMPARE(sumOf(bytes.get()), kPages * pageSize() - 1);
    QVERIFY(bytes.isCut());
  }

  /// Some threads map, move and release many files while others read truncated ones.
  void threadsReadWhileOthersMap() {
    const QTemporaryDir folder;
    std::atomic<bool> isOver = false;
    std::atomic<int> wrong = 0;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      const std::filesystem::path path = writeOnes(folder, ("whole" + std::to_string(thread)).c_str(), 2);
      threads.emplace_back([&, path] {
        while (!isOver) {
          std::vector<MappedBytes> many;
          for (int i = 0; i < 80; ++i) many.push_back(map(path));
          for (const MappedBytes& bytes : many) {
            if (bytes.isCut() || sumOf(bytes.get()) != 2 * pageSize()) ++wrong;
          }
        }
      });
    }
    for (int round = 0; round < 50; ++round) {
      const std::filesystem::path path = writeOnes(folder, "cut", 8);
      const MappedBytes bytes = map(path);
      std::filesystem::resize_file(path, 3 * pageSize());
      std::array<std::jthread, 2> readers;
      for (std::jthread& reader : readers) {
        reader = std::jthread([&] {
          if (sumOf(bytes.get()) != 3 * pageSize()) ++wrong;
        });
      }
      for (std::jthread& reader : readers) reader.join();
      if (!bytes.isCut()) ++wrong;
    }
    isOver = true;
    threads.clear();
    QCOMPARE(wrong.load(), 0);
  }

  /// What is no range of ours ends the program as ever, be it an address or a signal that was sent.
  void othersAreLeftAlone() {
    const QTemporaryDir folder;
    const std::filesystem::path path = writeOnes(folder, "ones");
    const MappedBytes ours = map(path);
    const int found = signalOf([&] {
      QFile file(QString::fromStdString(path.string()));
      if (!file.open(QIODevice::ReadOnly)) return;
      const void* const address =
          ::mmap(nullptr, kPages * pageSize(), PROT_READ, MAP_PRIVATE, file.handle(), 0);
      std::filesystem::resize_file(path, 0);
      volatile std::size_t sum = sumOf({static_cast<const std::byte*>(address), kPages * pageSize()});
      sum = sum + 1;
    });
    QCOMPARE(found, SIGBUS);
    QCOMPARE(signalOf([] { ::raise(SIGBUS); }), SIGBUS);
    QCOMPARE(signalOf([&] {
               std::filesystem::resize_file(path, 0);
               if (sumOf(ours.get()) != 0 || !ours.isCut()) ::abort();
             }),
             0);
  }
};

SPANSCOPE_TEST(tst_mapped_ranges, TestMappedRanges)
#include "tst_mapped_ranges.moc"
