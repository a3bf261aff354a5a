// SPDX-License-Identifier: GPL-3.0-or-later
// Writers that are killed, disks that are full: whatever happens, nothing that is found is wrong, what was
// there before is there still, and the next writer finds its room.
#include "tests/engine/cache/store/store_fixture.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

using namespace spanscope;
using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace {

/// Runs `work` in a separate process, which ends normally or by SIGKILL.
template <class Work>
pid_t inProcess(const Work& work) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  work();
  ::_exit(0);
}

bool wasKilled(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

int leftOvers(const TemporaryStore& there) {
  int parts = 0;
  for (const auto& file : there.files()) parts += file.extension() == ".part" ? 1 : 0;
  return parts;
}

/// Counts steps and does something at the last of them.
std::function<int(WriteStep)> atStep(int last, std::function<int()> act) {
  return [at = 0, last, act = std::move(act)](WriteStep) mutable { return at++ == last ? act() : 0; };
}

}  // namespace

class TestDiskStoreFaults : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = qEnvironmentVariableIsSet("SPANSCOPE_SEED") ? qEnvironmentVariable("SPANSCOPE_SEED").toUInt()
                                                         : 20250317U;
    qInfo("seed %u", m_seed);
  }

  /// An error of the disk at each step of writing a pack.
  void errorsAtEveryStep() {
    for (const int error : {ENOSPC, EIO, EDQUOT}) {
      int steps = 0;
      for (int step = 0;; ++step) {
        const TemporaryStore there;
        {
          DiskStore first(there.config(30'000));
          QVERIFY(put(first, 0, 4));
        }
        bool isHit = false;
        bool isOver = false;
        DiskStoreConfig config = there.config(30'000);
        config.beforeStep = atStep(step, [&] {
          isHit = !isOver;
          return isOver ? 0 : error;
        });
        DiskStore store(config);
        const bool isWritten = put(store, 10, 4);
        isOver = true;
        QCOMPARE(leftOvers(there), 0);
        QCOMPARE(look(store, 0), Seen::Right);
        QVERIFY(look(store, 10) == (isWritten ? Seen::Right : Seen::Missing));
        if (isHit) QCOMPARE(store.takeProblems().size(), std::size_t{1});
        // Its room is free for the next one.
        QVERIFY(put(store, 20, 4));
        QCOMPARE(look(store, 20), Seen::Right);
        if (!isHit) break;
        ++steps;
      }
      // Create, reserve, four blocks and the head, sync, rename, sync of the folder.
      QCOMPARE(steps, 10);
    }
  }

  /// A real limit of the system instead of an injected error: files may not grow beyond some size.
  void aFullDisk() {
    const TemporaryStore there;
    {
      DiskStore first(there.config());
      QVERIFY(put(first, 0, 4));
    }
    for (const rlim_t limit : {1U, 64U, 500U, 2000U, 6000U}) {
      const pid_t process = inProcess([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit most{limit, limit};
        ::setrlimit(RLIMIT_FSIZE, &most);
        DiskStore store(there.config());
        const bool isRight = !put(store, 10, 4) && look(store, 0) == Seen::Right &&
                             look(store, 10) == Seen::Missing && store.takeProblems().size() == 1;
        ::_exit(isRight ? 0 : 1);
      });
      int status = 0;
      ::waitpid(process, &status, 0);
      QVERIFY2(WIFEXITED(status) && WEXITSTATUS(status) == 0, std::to_string(limit).c_str());
      QCOMPARE(leftOvers(there), 0);
    }
    DiskStore store(there.config());
    QCOMPARE(look(store, 0), Seen::Right);
    QVERIFY(put(store, 10, 4));
  }

  /// A process that has the lock and counts the bytes of the folder sees each pack under one of its two
  /// names.
  void packsAreNamedWithTheLock() {
    const TemporaryStore there;
    Gate gate;
    DiskStoreConfig config = there.config();
    std::atomic<bool> isThere = false;
    config.beforeStep = [&](WriteStep step) {
      if (step == WriteStep::Sync) {
        isThere = true;
        gate.pass();
      }
      return 0;
    };
    bool isWritten = false;
    {
      const std::jthread writer([&] {
        DiskStore store(config);
        isWritten = put(store, 0, 4);
      });
      QTRY_VERIFY(isThere);
      const StoreLock lock(there.folder() / "lock");
      gate.open();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      QCOMPARE(there.files().size(), std::size_t{1});
      QCOMPARE(leftOvers(there), 1);
    }
    QVERIFY(isWritten);
    QCOMPARE(there.files().size(), std::size_t{1});
    QCOMPARE(leftOvers(there), 0);
  }

  /// Killed at each step, with the removal of what had to go before it.
  void killedAtEveryStep() {
    constexpr std::uint64_t kLimit = 30'000;
    int kills = 0;
    for (int step = 0;; ++step) {
      const TemporaryStore there;
      {
        DiskStore first(there.config(kLimit));
        QVERIFY(put(first, 0, 4) && put(first, 10, 4) && put(first, 20, 4));
      }
      const pid_t process = inProcess([&] {
        DiskStoreConfig config = there.config(kLimit);
        config.beforeStep = atStep(step, [] { return ::raise(SIGKILL); });
        DiskStore store(config);
        put(store, 30, 8);
      });
      const bool isKilled = wasKilled(process);
      QVERIFY(there.bytes() <= kLimit);
      DiskStore store(there.config(kLimit));
      QCOMPARE(leftOvers(there), 0);
      for (const std::uint64_t number : {0U, 3U, 10U, 20U, 30U, 37U})
        QVERIFY(look(store, number) != Seen::Wrong);
      QCOMPARE(look(store, 30), look(store, 37));
      if (!isKilled) QCOMPARE(look(store, 30), Seen::Right);
      // The next writer has all the room.
      QVERIFY(put(store, 40, 8));
      QCOMPARE(leftOvers(there), 0);
      QVERIFY(there.bytes() <= kLimit);
      QVERIFY(store.takeProblems().empty());
      if (!isKilled) break;
      ++kills;
    }
    QVERIFY(kills >= 14);
  }

  /// Two hundred writers killed at any time, with others reading and writing beside them.
  void killedTwoHundredTimes() {
    constexpr int kKills = 200;
    constexpr std::uint64_t kLimit = 600'000;
    std::mt19937 random(m_seed);
    const TemporaryStore there;
    std::uint64_t first = 0;
    int found = 0;
    int killed = 0;
    for (int kill = 0; killed < kKills; ++kill) {
      QVERIFY(kill < 4 * kKills);
      const auto write = [&there, kLimit](std::uint64_t from) {
        DiskStore store(there.config(kLimit));
        for (std::uint64_t number = from; number < from + 100'000; number += 10) {
          put(store, number, 1 + number % 9);
          if (look(store, number) == Seen::Wrong) ::_exit(1);
        }
      };
      const pid_t one = inProcess([&] { write(first); });
      const pid_t other = inProcess([&] { write(first + 500'000); });
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000));
      DiskStore store(there.config(kLimit));
      for (std::uint64_t number = first; number < first + 200; ++number) {
        for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{500'000}}) {
          const Seen seen = look(store, base + number);
          QVERIFY(seen != Seen::Wrong);
          found += seen == Seen::Right ? 1 : 0;
        }
      }
      ::kill(one, SIGKILL);
      ::kill(other, SIGKILL);
      for (const pid_t process : {one, other}) {
        int status = 0;
        ::waitpid(process, &status, 0);
        QVERIFY(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
        if (WIFSIGNALED(status)) ++killed;
      }
      QVERIFY(there.bytes() <= kLimit);
      QVERIFY(store.takeProblems().empty());
      first += 10 * (random() % 3);
    }
    qInfo("%d writers killed, %d blocks found", killed, found);
    QVERIFY(found > 0);
    DiskStore store(there.config(kLimit));
    for (const PackSummary& pack : store.verify()) QVERIFY(pack.fault == PackFault::None);
    QVERIFY(put(store, 5'000'000, 3));
    QCOMPARE(leftOvers(there), 0);
  }

  /// Those that write in the background while they look things up, two at once in one folder.
  void killedWhileTheyWriteInTheBackground() {
    constexpr int kKills = 60;
    constexpr std::uint64_t kLimit = 300'000;
    std::mt19937 random(m_seed + 1);
    const TemporaryStore there;
    const auto owner = std::make_shared<const StoreOwner>(
        StoreOwner{.fingerprint = "model=1", .model = "spanlet", .slotBytes = kSlotBytes});
    int found = 0;
    for (int kill = 0; kill < kKills; kill += 2) {
      const std::uint64_t first = 10 * static_cast<std::uint64_t>(random() % 5);
      const auto write = [&](std::uint64_t from) {
        SpanStore store(
            {.hostBytes = 10'000, .folder = there.folder(), .diskBytes = kLimit, .waitingBytes = 40'000});
        for (std::uint64_t number = from; number < from + 100'000; ++number) {
          const HeldBlock block{.facts = factsOf(number),
                                .owner = owner,
                                .chain = number / 10,
                                .place = static_cast<std::int32_t>(number % 10),
                                .bytes = blockOf(number).bytes};
          number % 3 == 0 ? static_cast<void>(store.keep(block)) : static_cast<void>(store.spill(block));
          const std::uint64_t back = number - (number - from) % 40;
          const StoredFacts facts = factsOf(back);
          const auto bytes = store.fetch(facts.name, facts.parent, facts.tokens, kSlotBytes);
          const std::vector<std::byte> right = bytesOf(back);
          if (bytes && !std::equal(bytes->bytes.begin(), bytes->bytes.end(), right.begin(), right.end()))
            ::_exit(1);
          if (number % 50 == 0) store.flush();
        }
      };
      const pid_t one = inProcess([&] { write(first); });
      const pid_t other = inProcess([&] { write(first + 20); });
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
      for (const pid_t process : {one, other}) {
        ::kill(process, SIGKILL);
        QVERIFY(wasKilled(process));
      }
      QVERIFY(there.bytes() <= kLimit);
      DiskStore store(there.config(kLimit));
      QCOMPARE(leftOvers(there), 0);
      for (std::uint64_t number = 0; number < 300; ++number) {
        const Seen seen = look(store, number);
        QVERIFY(seen != Seen::Wrong);
        found += seen == Seen::Right ? 1 : 0;
      }
      QVERIFY(store.takeProblems().empty());
    }
    QVERIFY(found > 0);
  }

  /// A store that is made is whole or not there, whenever its maker is killed.
  void killedWhileItIsMade() {
    std::mt19937 random(m_seed);
    for (int kill = 0; kill < 30; ++kill) {
      const TemporaryStore there;
      const pid_t process = inProcess([&] {
        DiskStore store(there.config());
        put(store, 0, 2);
      });
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
      ::kill(process, SIGKILL);
      int status = 0;
      ::waitpid(process, &status, 0);
      DiskStore store(there.config());
      QVERIFY(look(store, 0) != Seen::Wrong);
      QVERIFY(put(store, 10, 2));
      QCOMPARE(look(store, 10), Seen::Right);
    }
  }

 private:
  unsigned m_seed = 0;
};

SPANSCOPE_TEST(tst_disk_store_faults, TestDiskStoreFaults)
#include "tst_disk_store_faults.moc"
