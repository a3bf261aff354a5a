// SPDX-License-Identifier: GPL-3.0-or-later
// Both tiers together: what host memory gives up goes on to the disk, and nothing passes its bound.
#include "tests/engine/cache/store/store_fixture.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <stop_token>
#include <thread>

using namespace spanscope;
using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace {

/// The text for the user about the row of host memory whose blocks are of this model.
std::string hostText(SpanStore& store, std::string_view fingerprint) {
  const trace::StoreReported report = store.report(std::string(fingerprint));
  const trace::StoreTextsReported texts = store.packTexts();
  for (const trace::StoredPack& pack : report.packs) {
    if (pack.tier != trace::StoreTier::Host || !pack.ofThisModel) continue;
    for (const trace::PackText& text : texts.packs) {
      if (text.name == pack.name) return text.text;
    }
  }
  return {};
}

HeldBlock held(std::uint64_t number) {
  static const auto owner = std::make_shared<const StoreOwner>(
      StoreOwner{.fingerprint = "model=1", .model = "spanlet", .slotBytes = kSlotBytes});
  return {.facts = factsOf(number),
          .owner = owner,
          .chain = number / 10,
          .place = static_cast<std::int32_t>(number % 10),
          .bytes = std::make_shared<const std::vector<std::byte>>(bytesOf(number))};
}

Seen look(SpanStore& store, std::uint64_t number) {
  const StoredFacts facts = factsOf(number);
  const std::optional<StoredBytes> found = store.fetch(facts.name, facts.parent, facts.tokens, kSlotBytes);
  if (!found) return Seen::Missing;
  const std::vector<std::byte> expected = bytesOf(number);
  return std::equal(found->bytes.begin(), found->bytes.end(), expected.begin(), expected.end()) ? Seen::Right
                                                                                                : Seen::Wrong;
}

}  // namespace

class TestSpanStore : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void hostMemoryKeepsTheLastUsed() {
    const std::uint64_t each = HostStore::bytesOf(held(0));
    SpanStore store({.hostBytes = 3 * each, .folder = {}, .diskBytes = 0});
    for (std::uint64_t number = 0; number < 3; ++number)
      QVERIFY(store.spill(held(number)) == trace::StoreTier::Host);
    QVERIFY(!store.spill(held(2)));  // is there
    QCOMPARE(look(store, 0), Seen::Right);
    QVERIFY(store.spill(held(3)) == trace::StoreTier::Host);
    QCOMPARE(look(store, 1), Seen::Missing);
    for (const std::uint64_t number : {0U, 2U, 3U}) QCOMPARE(look(store, number), Seen::Right);
    const trace::StoreReported report = store.report("model=1");
    QCOMPARE(report.tiers.size(), std::size_t{1});
    QCOMPARE(report.tiers[0].blocks, std::uint64_t{3});
    QCOMPARE(report.tiers[0].bytes, 3 * each);
    QVERIFY(report.packs[0].ofThisModel && report.packs[0].tokens == 48);
    QVERIFY(!store.report("model=2").packs[0].ofThisModel);
    store.clearHost();
    QCOMPARE(look(store, 0), Seen::Missing);
    QCOMPARE(store.report("").tiers[0].bytes, std::uint64_t{0});
  }

  /// As a row of the disk does: by how its spans begin, and by how the beginning of a prompt ends.
  void hostMemoryIsNamedByItsFirstWords() {
    const auto other = std::make_shared<const StoreOwner>(
        StoreOwner{.fingerprint = "model=2", .model = "other", .slotBytes = kSlotBytes});
    SpanStore store({.hostBytes = 1U << 20U, .folder = {}, .diskBytes = 0});
    QVERIFY(store.packTexts().packs.empty());
    std::vector<HeldBlock> blocks{held(0), held(1), held(10), held(20), held(30)};
    blocks[0].text = "You are a helpful assistant.";
    blocks[0].facts.base = 0;
    blocks[1].text = "Answer in one word.";
    blocks[1].facts.base = 0;
    blocks[1].facts.parent = blocks[0].facts.name;
    blocks[2].text = "Mira lives in Lisbon.";
    blocks[3].text = "Tarek is a baker.";
    blocks[4].text = "Nadia was born in May.";
    blocks[4].owner = other;
    for (HeldBlock& block : blocks) QVERIFY(store.spill(std::move(block)) == trace::StoreTier::Host);
    QCOMPARE(hostText(store, "model=1"),
             std::string("Tarek is a baker. · Mira lives in Lisbon. · Answer in one word."));
    QCOMPARE(hostText(store, "model=2"), std::string("Nadia was born in May."));
    // The one that was used last comes first.
    const StoredFacts again = factsOf(10);
    QVERIFY(store.fetch(again.name, again.parent, again.tokens, kSlotBytes));
    QCOMPARE(hostText(store, "model=1"),
             std::string("Mira lives in Lisbon. · Tarek is a baker. · Answer in one word."));
    store.clearHost();
    QVERIFY(store.packTexts().packs.empty());
  }

  /// A program that was suspended while it held the lock holds nobody up: a store is read without its lock,
  /// and writing gives up.
  void anotherProgramHoldsTheLock() {
    QTemporaryDir folder;
    const std::filesystem::path path = (folder.path() + "/store").toStdString();
    const SpanStoreConfig config{
        .folder = path, .diskBytes = 1U << 20U, .lockWait = {.most = std::chrono::milliseconds(50)}};
    {
      SpanStore store(config);
      QVERIFY(store.keep(held(1)));
      QVERIFY(store.flush());
    }
    const StoreLock lock(path / "lock");
    QVERIFY(lock.isHeld());
    QElapsedTimer timer;
    timer.start();
    SpanStore store(config);
    QCOMPARE(look(store, 1), Seen::Right);
    QVERIFY(store.takeProblems().empty());
    // Several packs wait once.
    for (const std::uint64_t number : {2U, 20U, 30U}) QVERIFY(store.keep(held(number)));
    QVERIFY(!store.flush());
    QVERIFY(timer.elapsed() < 5'000);
    const std::vector<Error> problems = store.takeProblems();
    QVERIFY(!problems.empty());
    QCOMPARE(problems[0].file, (path / "lock").string());
    QCOMPARE(look(store, 2), Seen::Missing);
  }

  /// Where the store has to be made first, the session runs without it, and the wait can be stopped.
  void anotherProgramHoldsTheLockOfANewStore() {
    QTemporaryDir folder;
    const std::filesystem::path path = (folder.path() + "/store").toStdString();
    { const SpanStore made({.folder = path, .diskBytes = 1U << 20U}); }
    std::filesystem::remove(path / "secret");
    const StoreLock lock(path / "lock");
    std::stop_source stop;
    SpanStoreConfig config{.folder = path,
                           .diskBytes = 1U << 20U,
                           .lockWait = {.stop = stop.get_token(), .most = std::chrono::milliseconds(50)}};
    for (const bool isStopped : {false, true}) {
      if (isStopped) {
        config.lockWait.most = std::chrono::hours(1);
        stop.request_stop();
      }
      SpanStore store(config);
      QCOMPARE(store.takeProblems().size(), std::size_t{1});
      QVERIFY(!store.keep(held(1)));
      QVERIFY(store.flush());
      QCOMPARE(look(store, 1), Seen::Missing);
    }
  }

  /// The texts of the disk are beside those of host memory.
  void eachTierNamesItsOwn() {
    const TemporaryStore there;
    SpanStore store(
        {.hostBytes = HostStore::bytesOf(held(0)), .folder = there.folder(), .diskBytes = 1U << 20U});
    for (const std::uint64_t number : {0U, 10U}) {
      HeldBlock block = held(number);
      block.text = number == 0 ? "Mira lives in Lisbon." : "Tarek is a baker.";
      store.spill(std::move(block));
    }
    QVERIFY(store.flush());
    QCOMPARE(hostText(store, "model=1"), std::string("Tarek is a baker."));
    const trace::StoreReported report = store.report("model=1");
    const trace::StoreTextsReported texts = store.packTexts();
    QCOMPARE(report.packs.size(), std::size_t{2});
    QCOMPARE(texts.packs.size(), std::size_t{2});
    for (const trace::StoredPack& pack : report.packs) {
      if (pack.tier != trace::StoreTier::Disk) continue;
      const auto named = std::find_if(texts.packs.begin(), texts.packs.end(),
                                      [&](const trace::PackText& text) { return text.name == pack.name; });
      QVERIFY(named != texts.packs.end());
      QCOMPARE(named->text, std::string("Mira lives in Lisbon."));
    }
  }

  void whatIsTooLargeIsNotKept() {
    SpanStore store({.hostBytes = 1000, .folder = {}, .diskBytes = 0});
    QVERIFY(!store.spill(held(0)));
    QCOMPARE(look(store, 0), Seen::Missing);
  }

  void whatGoesFromHostMemoryGoesToTheDisk() {
    const TemporaryStore there;
    const std::uint64_t each = HostStore::bytesOf(held(0));
    {
      SpanStore store({.hostBytes = 2 * each, .folder = there.folder(), .diskBytes = 1U << 20U});
      for (std::uint64_t number = 0; number < 10; ++number) store.spill(held(number));
      // Also while it waits to be written.
      for (std::uint64_t number = 0; number < 10; ++number) QCOMPARE(look(store, number), Seen::Right);
      QVERIFY(there.files().empty());
      QVERIFY(store.flush());
      QCOMPARE(there.files().size(), std::size_t{1});
      for (std::uint64_t number = 0; number < 10; ++number) QCOMPARE(look(store, number), Seen::Right);
      QVERIFY(store.find(nameOf(0))->tier == trace::StoreTier::Disk);
      QVERIFY(store.find(nameOf(9))->tier == trace::StoreTier::Host);
    }
    SpanStore store({.hostBytes = 0, .folder = there.folder(), .diskBytes = 1U << 20U});
    for (std::uint64_t number = 0; number < 8; ++number) QCOMPARE(look(store, number), Seen::Right);
    QCOMPARE(look(store, 9), Seen::Missing);  // was in host memory alone
  }

  /// More than fits: packs are no larger than a quarter of the bound, so that something is always kept.
  void theBoundOfTheDiskHolds() {
    const TemporaryStore there;
    constexpr std::uint64_t kLimit = 60'000;
    SpanStore store({.hostBytes = 0, .folder = there.folder(), .diskBytes = kLimit});
    for (std::uint64_t number = 0; number < 200; ++number) store.keep(held(number));
    QVERIFY(store.flush());
    QVERIFY(there.bytes() <= kLimit);
    QVERIFY(there.bytes() > kLimit / 2);
    QVERIFY(store.takeProblems().empty());
  }

  /// It stays a cache hit, and only blocks without room wait, as long as the store is set to wait.
  void whatIsBeingWrittenIsFound() {
    const TemporaryStore there;
    Gate gate;
    SpanStore store({.hostBytes = 0,
                     .folder = there.folder(),
                     .diskBytes = 1U << 20U,
                     .waitingBytes = 4 * bytesOf(0).size(),
                     .beforeStep = gate.before(WriteStep::Sync)});
    for (std::uint64_t number = 0; number < 4; ++number)
      QVERIFY(store.spill(held(number)) == trace::StoreTier::Disk);
    QVERIFY(!store.spill(held(3)));  // waits already
    QVERIFY(!store.spill(held(4), {.stop = {}, .most = std::chrono::milliseconds(10)}));
    std::stop_source stop;
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request_stop();
    });
    QVERIFY(!store.keep(held(4), {.stop = stop.get_token()}));
    stopper.join();
    QVERIFY(!store.flush({.stop = {}, .most = std::chrono::milliseconds(10)}));
    for (std::uint64_t number = 0; number < 4; ++number) {
      QCOMPARE(look(store, number), Seen::Right);
      QVERIFY(store.isOnDisk(nameOf(number)) && store.stateOf(nameOf(number)) == KeptState::Waiting);
    }
    QCOMPARE(look(store, 4), Seen::Missing);
    gate.open();
    QVERIFY(store.flush());
    for (std::uint64_t number = 0; number < 4; ++number) {
      QCOMPARE(look(store, number), Seen::Right);
      QVERIFY(store.stateOf(nameOf(number)) == KeptState::Kept);
    }
    QVERIFY(store.keep(held(4)) && store.keep(held(0)) && store.flush());
    QVERIFY(store.stateOf(nameOf(4)) == KeptState::Kept);
  }

  /// What waits is given up, and what is half-written goes.
  void theEndWaitsForNoDisk() {
    const TemporaryStore there;
    QElapsedTimer clock;
    {
      SpanStore store({.hostBytes = 0,
                       .folder = there.folder(),
                       .diskBytes = 1U << 20U,
                       .beforeStep = [](WriteStep step) {
                         if (step == WriteStep::Write)
                           std::this_thread::sleep_for(std::chrono::milliseconds(200));
                         return 0;
                       }});
      for (std::uint64_t number = 0; number < 100; ++number) QVERIFY(store.keep(held(number)));
      store.startFlush();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      clock.start();
    }
    QVERIFY2(clock.elapsed() < 10'000, qPrintable(QString::number(clock.elapsed())));
    QVERIFY(there.files().empty());
  }

  void whatCannotBeWrittenIsLost() {
    const TemporaryStore there;
    SpanStore store(
        {.hostBytes = 0, .folder = there.folder(), .diskBytes = 1U << 20U, .beforeStep = [](WriteStep step) {
           return step == WriteStep::Write ? ENOSPC : 0;
         }});
    QVERIFY(store.keep(held(0)) && !store.flush());
    QVERIFY(store.stateOf(nameOf(0)) == KeptState::Lost);
    QCOMPARE(look(store, 0), Seen::Missing);
    QCOMPARE(store.takeProblems().size(), std::size_t{1});
    QVERIFY(store.flush());
  }

  void manyThreads() {
    const TemporaryStore there;
    SpanStore store({.hostBytes = 40'000, .folder = there.folder(), .diskBytes = 1U << 20U});
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::uint64_t number = 0; number < 100; ++number) {
          store.spill(held(thread * 100 + number));
          if (look(store, number) == Seen::Wrong) ++wrong;
          if (number % 20 == 0) store.flush();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(wrong.load(), 0);
    store.flush();
    for (std::uint64_t number = 0; number < 400; ++number) QCOMPARE(look(store, number), Seen::Right);
  }

  /// Names of two stores have nothing in common, and the names of one store are hashes of all their parts.
  void namesStandForTheirContents() {
    const TemporaryStore there;
    const TemporaryStore elsewhere;
    const DiskStore one(there.config());
    const DiskStore two(elsewhere.config());
    const ContentNaming naming(one.folder().secret());
    const std::vector<TokenId> tokens{1, 2, 3};
    const ContentName root = naming.root("model", "salt", {});
    std::vector<ContentName> names{
        root,
        ContentNaming(two.folder().secret()).root("model", "salt", {}),
        naming.root("model", "", {}),
        naming.root("modelsalt", "", {}),
        naming.root("mode", "lsalt", {}),
        naming.block(root, tokens),
        naming.block(root, std::vector<TokenId>{1, 2}),
        naming.block(naming.block(root, std::vector<TokenId>{1, 2}), std::vector<TokenId>{3})};
    for (const SeenName& seen : {SeenName{root, 5, 0}, SeenName{root, 6, 0}, SeenName{root, 5, 1}})
      names.push_back(naming.root("model", "salt", std::vector<SeenName>{seen}));
    std::sort(names.begin(), names.end());
    QVERIFY(std::adjacent_find(names.begin(), names.end()) == names.end());
    QVERIFY(naming.block(root, tokens) == ContentNaming(one.folder().secret()).block(root, tokens));
  }
};

SPANSCOPE_TEST(tst_span_store, TestSpanStore)
#include "tst_span_store.moc"
