// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/thread_pool.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

using namespace spanscope;
using spanscope::product_text::says;

namespace {

void addThreadCounts() {
  QTest::addColumn<int>("threads");
  for (const int threads : {1, 2, 3, 8}) QTest::addRow("%d threads", threads) << threads;
}

}  // namespace

class TestThreadPool : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyTileOnce_data() { addThreadCounts(); }
  void everyTileOnce() {
    QFETCH(int, threads);
    cpu::ThreadPool pool(threads);
    QCOMPARE(pool.size(), threads);
    for (const std::int64_t tiles : {0, 1, 2, 7, 1000}) {
      std::vector<int> calls(static_cast<std::size_t>(tiles));  // not atomic: a tile is one thread's
      std::atomic<bool> isThreadInRange = true;
      pool.run(tiles, {}, [&](std::int64_t tile, int thread) {
        ++calls[static_cast<std::size_t>(tile)];
        if (thread < 0 || thread >= threads) isThreadInRange = false;
      });
      QCOMPARE(calls, std::vector<int>(static_cast<std::size_t>(tiles), 1));
      QVERIFY(isThreadInRange);
    }
  }

  void manySmallJobs_data() { addThreadCounts(); }
  void manySmallJobs() {
    QFETCH(int, threads);
    cpu::ThreadPool pool(threads);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(threads) * 16);
    std::int64_t expected = 0;
    for (int job = 0; job < 20000; ++job) {
      const std::int64_t tiles = 2 + job % 5;
      pool.run(tiles, {}, [&](std::int64_t tile, int thread) {
        sums[static_cast<std::size_t>(thread) * 16] += tile + job;
      });
      for (std::int64_t tile = 0; tile < tiles; ++tile) expected += tile + job;
    }
    QCOMPARE(std::accumulate(sums.begin(), sums.end(), std::int64_t{0}), expected);
  }

  void wakesAfterSleep() {
    cpu::ThreadPool pool(3);
    for (int i = 0; i < 5; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      std::atomic<int> calls = 0;
      pool.run(10, {}, [&](std::int64_t, int) { ++calls; });
      QCOMPARE(calls.load(), 10);
    }
  }

  void othersTakePart() {
    // Two tiles that wait for each other: only two threads can finish them.
    cpu::ThreadPool pool(2);
    std::atomic<int> begun = 0;
    pool.run(2, {}, [&](std::int64_t, int) {
      ++begun;
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (begun < 2 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    });
    QCOMPARE(begun.load(), 2);
  }

  void doesWithoutThreadsThatKeepItWaiting() {
    using namespace std::chrono_literals;
    cpu::ThreadPool pool(2);
    int helped = 0;
    // A helper that takes long for what takes the caller little, as one does whose core went to another
    // program.
    const auto job = [&] {
      std::atomic<bool> helps = false;
      pool.run(64, {}, [&](std::int64_t, int thread) {
        if (thread != 0) helps = true;
        std::this_thread::sleep_for(thread == 0 ? 50us : 30ms);
      });
      if (helps) ++helped;
    };
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (helped == 0 && std::chrono::steady_clock::now() < limit) job();
    QCOMPARE(helped, 1);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 40; ++i) job();
    // On a busy machine so much time passes that it is given other tries meanwhile.
    const auto tries = (std::chrono::steady_clock::now() - begin) / 100ms;
    QVERIFY2(helped <= 8 + tries, qPrintable(QString::number(helped)));

    // Later it is given another try.
    std::this_thread::sleep_for(400ms);
    std::atomic<int> begun = 0;
    pool.run(2, {}, [&](std::int64_t, int) {
      ++begun;
      while (begun < 2 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    });
    QCOMPARE(begun.load(), 2);
    QVERIFY(std::chrono::steady_clock::now() < limit);
  }

  void stopLeavesTilesOut_data() { addThreadCounts(); }
  void stopLeavesTilesOut() {
    QFETCH(int, threads);
    cpu::ThreadPool pool(threads);
    std::stop_source stop;
    std::atomic<int> calls = 0;
    pool.run(1000, stop.get_token(), [&](std::int64_t, int) {
      const int call = ++calls;
      if (call == 10) stop.request_stop();
      while (call > 10 && !stop.stop_requested()) std::this_thread::yield();
    });
    QVERIFY(calls >= 10);
    QVERIFY(calls < 10 + threads);
    calls = 0;
    pool.run(5, stop.get_token(), [&](std::int64_t, int) { ++calls; });
    QCOMPARE(calls.load(), 0);
    pool.run(5, {}, [&](std::int64_t, int) { ++calls; });
    QCOMPARE(calls.load(), 5);
  }

  /// Where the system starts no more threads, some of those that it started do all of the work.
  void doesWithThreadsThatCanBeStarted_data() {
    QTest::addColumn<int>("startable");
    QTest::addColumn<bool>("lacksMemory");
    QTest::addColumn<int>("size");
    QTest::newRow("none") << 0 << false << 1;
    QTest::newRow("one") << 1 << false << 1;
    QTest::newRow("four") << 4 << false << 3;
    QTest::newRow("four, then no memory") << 4 << true << 3;
    QTest::newRow("all") << 6 << false << 7;
  }
  void doesWithThreadsThatCanBeStarted() {
    QFETCH(int, startable);
    QFETCH(bool, lacksMemory);
    QFETCH(int, size);
    int started = 0;
    cpu::ThreadPool pool(7, [&](std::function<void(const std::stop_token&)> work) {
      if (started == startable && lacksMemory) throw std::bad_alloc();
      if (started == startable)
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      ++started;
      // They are asleep when it turns out that not all can be started.
      std::jthread thread(std::move(work));
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      return thread;
    });
    QCOMPARE(pool.size(), size);
    QCOMPARE(pool.shortfall().empty(), size == 7);
    if (size < 7) {
      QVERIFY(says(pool.shortfall(), "7: <too-few-threads-started>"));
      rlimit limit{};
      QCOMPARE(getrlimit(RLIMIT_NPROC, &limit), 0);
      // The limit that is in the way is named.
      QVERIFY(limit.rlim_cur == RLIM_INFINITY ||
              pool.shortfall().find(std::to_string(limit.rlim_cur) + " processes") != std::string::npos);
    }
    std::atomic<int> calls = 0;
    std::atomic<bool> isThreadInRange = true;
    for (int job = 0; job < 20; ++job) {
      pool.run(100, {}, [&](std::int64_t, int thread) {
        ++calls;
        if (thread < 0 || thread >= size) isThreadInRange = false;
      });
    }
    QCOMPARE(calls.load(), 2000);
    QVERIFY(isThreadInRange);
  }

  void startsNoMoreThanAreOfUse() {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int most = cores * cpu::kMostThreadsACore;
    int started = 0;
    const cpu::ThreadPool pool(most + 1, [&](std::function<void(const std::stop_token&)> work) {
      ++started;
      return std::jthread(std::move(work));
    });
    QCOMPARE(started, most - 1);
    QCOMPARE(pool.size(), most);
    QVERIFY2(says(pool.shortfall(), "<threads-only-wait>"), pool.shortfall().c_str());
    QVERIFY(pool.shortfall().find(std::to_string(most + 1)) != std::string::npos);
  }

  void endsWhileAsleepOrIdle() {
    for (int i = 0; i < 50; ++i) {
      cpu::ThreadPool pool(4);
      if (i % 2 == 0) pool.run(8, {}, [](std::int64_t, int) {});
      if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
};

SPANSCOPE_TEST(tst_thread_pool, TestThreadPool)
#include "tst_thread_pool.moc"
