// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and values that left the pool, or come from another session, equal computed ones bit for bit; and
// nobody gets what is somebody else's.
#include "engine/model/weights.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/store_tiers.h"
#include "engine/text/chat_template.h"
#include "engine/trace/replay.h"
#include "tests/engine/cache/store/store_fixture.h"
#include "tests/engine/run/random_tables.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/equal_bits.h"
#include "tests/support/product_text.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <stop_token>
#include <thread>
#include <variant>

using namespace spanscope;
using spanscope::cache::test::Gate;
using spanscope::product_text::worded;
using spanscope::test::blocksOf;
using spanscope::test::RandomTables;
using spanscope::test::SpanletSession;
using spanscope::test::TinySession;
using spanscope::testing::equalBits;

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;
constexpr std::chrono::milliseconds kLong = std::chrono::minutes(1);

class Folder {
 public:
  fs::path path() const { return fs::path(m_directory.path().toStdString()) / "spans"; }
  std::vector<fs::path> packs() const {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(path() / "packs", error)) found.push_back(entry.path());
    return found;
  }
  run::SessionConfig config(std::uint64_t hostBytes = 0) const {
    run::SessionConfig config;
    config.store = {.hostBytes = hostBytes, .folder = path(), .diskBytes = 64 * kMebibyte};
    return config;
  }

 private:
  QTemporaryDir m_directory;
};

layout::SpanTable oneSegment(std::int32_t first, std::int32_t count) {
  layout::SpanTable table;
  table.segments.resize(1);
  for (std::int32_t i = 0; i < count; ++i) table.segments[0].tokens.push_back((first + 7 * i) % 61);
  return table;
}

plan::Plan planOf(const std::string& json) {
  const auto parsed = query::parseJson(json);
  return *plan::makePlan(*parsed.query, {}).plan;
}

const char* const kQuestion =
    R"({"g":{"model":"m","max_tokens":8,"temperature":0,"input":{"cross":[)"
    R"({"plus":[{"user":"The pet of Tarek is Biscuit. He was found by the river in May."},)"
    R"({"user":"The pet of Mira is Pepper, and it sleeps all day long."}]},)"
    R"({"user":"What is the pet of Tarek?"}]}}})";
const char* const kSwapped = R"({"g":{"model":"m","max_tokens":8,"temperature":0,"input":{"cross":[)"
                             R"({"plus":[{"user":"The pet of Mira is Pepper, and it sleeps all day long."},)"
                             R"({"user":"The pet of Tarek is Biscuit. He was found by the river in May."}]},)"
                             R"({"user":"What is the pet of Tarek?"}]}}})";

const char* const kOther =
    R"({"g":{"model":"m","max_tokens":8,"temperature":0,"input":{"cross":[)"
    R"({"plus":[{"user":"Nadia was born in Lisbon. The train was late again in June."},)"
    R"({"user":"Shiloh is a baker, and the garden of Shiloh needs some water."}]},)"
    R"({"user":"Where was Nadia born?"}]}}})";

std::vector<std::string> warnings(const test::RecordingSink& sink) {
  std::vector<std::string> found;
  for (const auto& message : sink.all<trace::MessageLogged>()) {
    if (message.severity == Severity::Warning) found.push_back(message.text);
  }
  return found;
}

}  // namespace

class TestSessionStore : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void whatComesBackEqualsColdBitForBit_data() {
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<double>("poolRequests");
    QTest::addColumn<qulonglong>("hostBytes");
    QTest::addColumn<bool>("onDisk");
    QTest::addColumn<bool>("bf16");
    QTest::newRow("host memory") << 4 << 1.0 << qulonglong(8 * kMebibyte) << false << false;
    QTest::newRow("little host memory") << 4 << 1.0 << qulonglong(20'000) << false << false;
    QTest::newRow("disk") << 4 << 1.0 << qulonglong(0) << true << false;
    QTest::newRow("disk behind little host memory") << 5 << 1.0 << qulonglong(20'000) << true << false;
    QTest::newRow("bf16, blocks of 16") << 16 << 1.0 << qulonglong(kMebibyte) << true << true;
  }
  void whatComesBackEqualsColdBitForBit() {
    QFETCH(int, blockSize);
    QFETCH(double, poolRequests);
    QFETCH(qulonglong, hostBytes);
    QFETCH(bool, onDisk);
    QFETCH(bool, bf16);
    const std::uint64_t seed = testing::testSeed(20240611);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    RandomTables tables(seed, test::tinyConfig().vocabularySize, 23);
    std::vector<layout::SpanTable> prompts;
    for (int i = 0; i < 60; ++i) prompts.push_back(tables.next(i % 4));
    std::int64_t largest = 0;
    for (const auto& prompt : prompts) largest = std::max(largest, blocksOf(prompt, blockSize));

    const Folder folder;
    run::SessionConfig config = folder.config(hostBytes);
    if (!onDisk) config.store.folder.clear();
    config.blockSize = blockSize;
    config.rowsPerPass = 13;
    config.kvType = bf16 ? compute::DType::BF16 : compute::DType::F32;
    config.blockCount = 2 + static_cast<int>(std::ceil(static_cast<double>(largest) * poolRequests));
    run::SessionConfig coldConfig = config;
    coldConfig.store = {};
    coldConfig.blockCount = 2 + static_cast<int>(2 * largest);
    TinySession cold(1, coldConfig);

    std::size_t loaded = 0;
    std::mt19937_64 random(seed);
    // Several sessions one after the other, as several processes would be.
    for (int session = 0; session < 3; ++session) {
      TinySession warm(2, config);
      trace::Replay replay;
      const auto apply = [&replay](const trace::Event& event) {
        const auto error = replay.apply(event);
        QVERIFY2(!error, error ? error->message().c_str() : "");
      };
      for (const auto& event : warm.sink.events) apply(event);
      warm.sink.onEvent = apply;
      for (int i = 0; i < 60; ++i) {
        const auto& prompt = prompts[random() % prompts.size()];
        cold.session->clearCache();
        const auto expected = cold.session->logits({.table = prompt});
        const auto found = warm.session->logits({.table = prompt});
        QVERIFY2(equalBits(found.logits.front(), expected.logits.front()),
                 qPrintable(QString("session %1, prompt %2, %3 of %4 tokens cached")
                                .arg(session)
                                .arg(i)
                                .arg(found.cachedTokens)
                                .arg(prompt.tokenCount())));
        QCOMPARE(replay.pool().state(), warm.session->dumpPool());
      }
      warm.session->keepAll();
      QVERIFY(warnings(warm.sink).empty());
      loaded += warm.sink.all<trace::BlockLoaded>().size();
    }
    QVERIFY2(loaded > 20, qPrintable(QString("only %1 blocks were loaded").arg(loaded)));
  }

  /// All of it is found but the last token, and each hit says that it is one of the disk.
  void anotherSessionFindsWhatOneStored() {
    const Folder folder;
    const layout::SpanTable table = oneSegment(3, 40);
    std::vector<float> expected;
    {
      TinySession one(2, folder.config());
      expected = one.session->logits({.table = table}).logits.front();
      QVERIFY(folder.packs().empty());
      one.session->keepAll();
      QCOMPARE(folder.packs().size(), std::size_t{1});
      const auto spilled = one.sink.all<trace::BlockSpilled>();
      QCOMPARE(spilled.size(), std::size_t{3});
      QVERIFY(spilled[2].tier == trace::StoreTier::Disk && spilled[2].tokens == 8);
      one.session->keepAll();
      QCOMPARE(one.sink.all<trace::BlockSpilled>().size(), std::size_t{3});
    }
    TinySession other(1, folder.config());
    const auto found = other.session->logits({.table = table});
    QVERIFY(equalBits(found.logits.front(), expected));
    QCOMPARE(found.cachedTokens, std::int64_t{39});
    const auto lookups = other.sink.all<trace::BlockLookedUp>();
    const auto loads = other.sink.all<trace::BlockLoaded>();
    QCOMPARE(lookups.size(), std::size_t{3});
    QCOMPARE(loads.size(), std::size_t{3});
    QVERIFY(lookups[0].outcome == trace::LookupOutcome::Hit && lookups[1].tokens == 16);
    QVERIFY(lookups[2].outcome == trace::LookupOutcome::Partial && lookups[2].tokens == 7 &&
            lookups[2].reason == trace::MissReason::LastToken);
    for (std::size_t i = 0; i < loads.size(); ++i) {
      QVERIFY(loads[i].tier == trace::StoreTier::Disk && loads[i].nanoseconds > 0);
      QCOMPARE(loads[i].block, lookups[i].block);
      QCOMPARE(loads[i].tokens, lookups[i].tokens);
      QCOMPARE(loads[i].bytes, std::uint64_t(loads[i].tokens) * 2 * 2 * 2 * 8 * 4);
    }
    // Once they are in the pool they are hits of the pool.
    other.session->logits({.table = table});
    QCOMPARE(other.sink.all<trace::BlockLoaded>().size(), std::size_t{3});
  }

  /// A prompt that continues after a stored partial block takes its slots and computes the rest.
  void aStoredTailIsGoneOnFrom() {
    const Folder folder;
    {
      TinySession one(2, folder.config());
      one.session->logits({.table = oneSegment(3, 20)});
      one.session->keepAll();
    }
    TinySession other(2, folder.config());
    TinySession cold(2, {});
    const layout::SpanTable longer = oneSegment(3, 50);
    const auto found = other.session->logits({.table = longer});
    QCOMPARE(found.cachedTokens, std::int64_t{20});
    QVERIFY(equalBits(found.logits.front(), cold.session->logits({.table = longer}).logits.front()));
    const auto lookups = other.sink.all<trace::BlockLookedUp>();
    QVERIFY(lookups[1].outcome == trace::LookupOutcome::Partial && lookups[1].tokens == 4 &&
            lookups[1].reason == trace::MissReason::TokensDiffer && lookups[1].differsAt == 20);
  }

  void nobodyFindsWhatIsSomebodyElses() {
    const Folder folder;
    const layout::SpanTable table = oneSegment(3, 40);
    const auto cachedWith = [&](const run::SessionConfig& config, const model::ModelConfig& shape) {
      TinySession session(2, config, shape);
      const std::int64_t cached = session.session->logits({.table = table}).cachedTokens;
      session.session->keepAll();
      return cached;
    };
    const model::ModelConfig tiny = test::tinyConfig();
    run::SessionConfig config = folder.config();
    config.salt = "one";
    QCOMPARE(cachedWith(config, tiny), std::int64_t{0});
    QCOMPARE(cachedWith(config, tiny), std::int64_t{39});
    run::SessionConfig salted = config;
    salted.salt = "two";
    QCOMPARE(cachedWith(salted, tiny), std::int64_t{0});
    QCOMPARE(cachedWith(salted, tiny), std::int64_t{39});
    salted.salt.clear();
    QCOMPARE(cachedWith(salted, tiny), std::int64_t{0});
    run::SessionConfig half = config;
    half.kvType = compute::DType::BF16;
    QCOMPARE(cachedWith(half, tiny), std::int64_t{0});
    run::SessionConfig small = config;
    small.blockSize = 8;
    QCOMPARE(cachedWith(small, tiny), std::int64_t{0});
    model::ModelConfig other = tiny;
    other.intermediateSize += 16;
    QCOMPARE(cachedWith(config, other), std::int64_t{0});
    QCOMPARE(cachedWith(config, tiny), std::int64_t{39});
  }

  void damageIsToldOfAndComputedAnew() {
    const Folder folder;
    const layout::SpanTable table = oneSegment(3, 100);
    std::vector<float> expected;
    {
      TinySession one(2, folder.config());
      expected = one.session->logits({.table = table}).logits.front();
      one.session->keepAll();
    }
    const fs::path pack = folder.packs().front();
    {
      std::fstream file(pack, std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(-5000, std::ios::end);
      file.put('!').put('!');
    }
    run::SessionConfig config = folder.config();
    TinySession other(2, config);
    const auto found = other.session->logits({.table = table});
    QVERIFY(equalBits(found.logits.front(), expected));
    QCOMPARE(found.cachedTokens, std::int64_t{0});
    QVERIFY(!fs::exists(pack));
    other.session->keepAll();
    const std::vector<std::string> reported = warnings(other.sink);
    QCOMPARE(reported.size(), std::size_t{1});
    QVERIFY2(reported[0].find("wrong checksum") != std::string::npos, reported[0].c_str());
    QCOMPARE(folder.packs().size(), std::size_t{1});
  }

  void aFullDiskIsAWarning() {
    const Folder folder;
    run::SessionConfig config = folder.config();
    config.store.beforeStep = [](cache::WriteStep step) {
      return step == cache::WriteStep::Write ? ENOSPC : 0;
    };
    SpanletSession one(config);
    const run::RunResult result = one.session->run(planOf(kQuestion), {});
    QVERIFY(result.outcome == trace::RunOutcome::Finished);
    QVERIFY(one.session->keepFor(kLong));
    QVERIFY(folder.packs().empty());
    QCOMPARE(warnings(one.sink).size(), std::size_t{1});
    QVERIFY(one.sink.all<trace::BlockSpilled>().empty());
  }

  /// A tier that loads more slowly than the device computes is used no more, with one message.
  void whatIsSlowerThanComputingIsLeft() {
    using trace::StoreTier;
    constexpr std::int64_t kMany = run::TierRates::kFewestTokens;
    run::TierRates rates;
    rates.noteLoaded(StoreTier::Disk, kMany, kMany * 3000);
    rates.noteLoaded(StoreTier::Host, kMany, kMany * 500);
    QVERIFY(rates.isWorthIt(StoreTier::Disk));  // nothing to compare with
    rates.noteComputed(kMany - 1, (kMany - 1) * 1000);
    QVERIFY(rates.isWorthIt(StoreTier::Disk));
    rates.noteComputed(1, 1000);
    QVERIFY(!rates.isWorthIt(StoreTier::Disk));
    QVERIFY(rates.isWorthIt(StoreTier::Host));
    rates.noteComputed(kMany, kMany * 9000);
    QVERIFY(!rates.isWorthIt(StoreTier::Disk));
    const std::vector<std::string> said = rates.takeVerdicts();
    QCOMPARE(said.size(), std::size_t{1});
    QCOMPARE(said[0],
             worded(std::string(
                 "loading from the disk took 3.0 µs a token, computing 1.0 µs<nothing-more-loaded>")));
    QVERIFY(rates.takeVerdicts().empty());
  }

  void aTierThatIsNotWorthItIsNotFound() {
    const TinySession tiny(1, {});
    const auto pool = tiny.backend->makeKvStore({1, 4, 4, 1, 4, compute::DType::F32});
    const auto store = std::make_shared<cache::SpanStore>(
        cache::SpanStoreConfig{.hostBytes = kMebibyte, .folder = {}, .diskBytes = 0});
    run::StoreTiers tiers(store, *tiny.backend, *pool, "model=1", "tiny");
    cache::PooledBlock block;
    block.block = 1;
    block.facts.name = store->naming().root("a", "", {});
    block.facts.tokens = 4;
    QVERIFY(tiers.spill(block).has_value());
    const auto prediction = tiers.prediction();
    QVERIFY(tiers.find(block.facts.name) && prediction->find(block.facts.name));
    tiers.rates()->noteComputed(100'000, 1);
    tiers.rates()->noteLoaded(trace::StoreTier::Host, 100'000, 1'000'000);
    QVERIFY(!tiers.find(block.facts.name) && !prediction->find(block.facts.name));
  }

  void isOffUnlessAskedFor() {
    TinySession tiny(2, {});
    tiny.session->logits({.table = oneSegment(3, 40)});
    tiny.session->keepAll();
    QVERIFY(tiny.sink.all<trace::StoreReported>().empty());
  }

  /// A run stores at its end; the same query in another session, its documents swapped, finds them all.
  void runsOfOneSessionServeTheNext() {
    const Folder folder;
    std::string answer;
    {
      SpanletSession one(folder.config());
      answer = one.session->run(planOf(kQuestion), {}).answer;
      QVERIFY(one.session->keepFor(kLong));
      const auto reports = one.sink.all<trace::StoreReported>();
      QVERIFY(reports.size() >= 2);
      QCOMPARE(reports[0].tiers.front().blocks, std::uint64_t{0});
      const trace::StoreReported& last = reports.back();
      QVERIFY(last.tiers.front().blocks > 4);
      QCOMPARE(last.packs.size(), std::size_t{1});
      QVERIFY(last.packs.front().ofThisModel);
      QCOMPARE(last.packs.front().model, std::string("spanlet"));
      QCOMPARE(last.packs.front().tokens, last.tiers.front().tokens);
      // The user distinguishes it from others by its contents.
      const auto texts = one.sink.all<trace::StoreTextsReported>();
      QVERIFY(!texts.empty());
      QCOMPARE(texts.back().packs.size(), std::size_t{1});
      QCOMPARE(texts.back().packs.front().name, last.packs.front().name);
      const std::string& text = texts.back().packs.front().text;
      QVERIFY2(text.find("What is the pet of Tarek?") != std::string::npos, text.c_str());
      QVERIFY2(text.find('|') == std::string::npos, text.c_str());
      QCOMPARE(one.sink.all<trace::BlockSpilled>().size(), std::size_t{last.tiers.front().blocks});
    }
    SpanletSession other(folder.config());
    const run::RunResult result = other.session->run(planOf(kSwapped), {});
    QCOMPARE(result.answer, answer);
    const trace::StepMetrics& metrics = result.steps.front().metrics;
    QVERIFY(metrics.relocatedTokens > 20);
    std::int64_t loaded = 0;
    for (const auto& load : other.sink.all<trace::BlockLoaded>()) loaded += load.tokens;
    QCOMPARE(loaded, metrics.cachedTokens);
  }

  /// However slow the disk is: a stopped run leaves its blocks to the next one.
  void aStopWaitsForNoDisk() {
    const Folder folder;
    run::SessionConfig config = folder.config();
    config.store.beforeStep = [](cache::WriteStep step) {
      if (step == cache::WriteStep::Write) std::this_thread::sleep_for(std::chrono::seconds(10));
      return 0;
    };
    QElapsedTimer clock;
    {
      SpanletSession session(config);
      std::stop_source stop;
      session.sink.onEvent = [&](const trace::Event& event) {
        if (!std::holds_alternative<trace::TokenGenerated>(event.payload) || stop.stop_requested()) return;
        clock.start();
        stop.request_stop();
      };
      const run::RunResult result = session.session->run(planOf(kQuestion), {}, stop.get_token());
      const qint64 stopped = clock.elapsed();
      QVERIFY(result.outcome == trace::RunOutcome::Stopped);
      QVERIFY2(stopped < 5'000, qPrintable(QStringLiteral("%1 ms").arg(stopped)));
      clock.start();
    }
    QVERIFY2(clock.elapsed() < 5'000, qPrintable(QStringLiteral("%1 ms").arg(clock.elapsed())));
    QVERIFY(folder.packs().empty());
  }

  /// The next run begins while the blocks of the last are written, and finds them.
  void whatWaitsForTheDiskIsFound() {
    const Folder folder;
    Gate gate;
    run::SessionConfig config = folder.config();
    config.blockCount = 6;
    config.store.waitingBytes = 120'000;
    config.store.beforeStep = gate.before(cache::WriteStep::Sync);
    TinySession warm(1, config);
    TinySession cold(1, {});
    for (const std::int32_t first : {3, 5, 3}) {
      const layout::SpanTable table = oneSegment(first, 60);
      const auto found = warm.session->logits({.table = table});
      cold.session->clearCache();
      QVERIFY(equalBits(found.logits.front(), cold.session->logits({.table = table}).logits.front()));
    }
    QVERIFY(!warm.sink.all<trace::BlockLoaded>().empty());
    QVERIFY(folder.packs().empty() || folder.packs().front().extension() == ".part");
    gate.open();
  }

  /// Also one that waits for room among what is written.
  void aStopEndsTheWaitForRoom() {
    const Folder folder;
    Gate gate;
    run::SessionConfig config = folder.config();
    config.blockCount = 6;
    config.store.waitingBytes = 1;
    config.store.beforeStep = gate.before(cache::WriteStep::Sync);
    TinySession session(1, config);
    const std::shared_ptr<void> atEnd(nullptr, [&gate](void*) { gate.open(); });
    session.session->logits({.table = oneSegment(3, 60)});
    std::stop_source stop;
    std::atomic<std::int64_t> stopped = 0;
    const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stopped = now();
      stop.request_stop();
    });
    bool isFailure = false;
    try {
      session.session->logits({.table = oneSegment(5, 60)}, stop.get_token());
    } catch (const Failure&) {
      isFailure = true;
    }
    const std::int64_t ended = now();
    stopper.join();
    QVERIFY(isFailure);
    QVERIFY2(ended - stopped < 100'000'000, qPrintable(QString::number(ended - stopped)));
    // The session can be used as before.
    gate.open();
    TinySession cold(1, {});
    const layout::SpanTable table = oneSegment(3, 60);
    QVERIFY(equalBits(session.session->logits({.table = table}).logits.front(),
                      cold.session->logits({.table = table}).logits.front()));
  }

  /// A file that is cut between the check of its blocks and their loading fails the run by its name. Nothing
  /// of it is kept, and the next run computes what it lost.
  void aFileThatIsCutFailsTheRun() {
    for (const std::uintmax_t left : {0, 5000, 100'001}) {
      const Folder folder;
      std::string answer;
      {
        SpanletSession one(folder.config());
        answer = one.session->run(planOf(kQuestion), {}).answer;
      }
      const fs::path pack = folder.packs().front();
      SpanletSession other(folder.config());
      bool isCut = false;
      other.sink.onEvent = [&](const trace::Event& event) {
        if (isCut || !std::holds_alternative<trace::BlockLookedUp>(event.payload)) return;
        isCut = true;
        fs::resize_file(pack, left);
      };
      const run::RunResult failed = other.session->run(planOf(kSwapped), {});
      QVERIFY(isCut);
      QCOMPARE(failed.outcome, trace::RunOutcome::Failed);
      QVERIFY(failed.error);
      QCOMPARE(failed.error->file, pack.string());
      QCOMPARE(failed.error->found, worded(std::string("<file-cut-while>")));
      for (const trace::BlockState& block : other.session->dumpPool().blocks) QCOMPARE(block.references, 0);
      const run::RunResult next = other.session->run(planOf(kSwapped), {});
      QCOMPARE(next.outcome, trace::RunOutcome::Finished);
      QCOMPARE(next.answer, answer);
      QVERIFY(!fs::exists(pack));
    }
  }

  /// The prediction knows the contents of the tiers, loads nothing, and spills nothing.
  void thePredictionKnowsTheTiers() {
    const Folder folder;
    for (const std::uint64_t hostBytes : {std::uint64_t{0}, kMebibyte}) {
      run::SessionConfig config = folder.config(hostBytes);
      config.blockCount = 14;
      SpanletSession session(config);
      for (const char* query : {kQuestion, kSwapped, kQuestion}) {
        const plan::Plan plan = planOf(query);
        QVERIFY(session.session->keepFor(kLong));
        const std::size_t packs = folder.packs().size();
        const run::Prediction prediction = session.session->predictor()->predict(plan, {});
        QCOMPARE(folder.packs().size(), packs);
        const run::RunResult result = session.session->run(plan, {});
        const trace::StepMetrics& metrics = result.steps.front().metrics;
        const run::StepPrediction& step = prediction.steps.front();
        QVERIFY(step.cached.holds(metrics.cachedTokens));
        QCOMPARE(step.cached.most, metrics.cachedTokens);
        QCOMPARE(step.relocated.most, metrics.relocatedTokens);
        const auto loads = session.sink.all<trace::BlockLoaded>();
        const bool isFromDisk = std::any_of(loads.begin(), loads.end(), [](const trace::BlockLoaded& load) {
          return load.tier == trace::StoreTier::Disk;
        });
        // What is on the disk may be damaged or gone by the time it is read.
        if (!isFromDisk) QCOMPARE(step.doubt, run::Doubt::None);
        if (isFromDisk) QCOMPARE(step.doubt, run::Doubt::Tiers);
        session.sink.events.clear();
      }
    }
  }

  /// Host memory has room for few blocks: the prediction does not expect evicted ones there.
  void thePredictionKnowsTheBoundOfHostMemory() {
    run::SessionConfig config;
    config.blockCount = 7;
    int loaded = 0;
    for (const std::uint64_t blocks : {1, 2, 3, 5, 8}) {
      config.store.hostBytes = blocks * 52'000;
      SpanletSession session(config);
      for (const char* query : {kQuestion, kOther, kSwapped, kOther, kQuestion}) {
        const plan::Plan plan = planOf(query);
        const run::Prediction prediction = session.session->predictor()->predict(plan, {});
        const run::RunResult result = session.session->run(plan, {});
        const trace::StepMetrics& metrics = result.steps.front().metrics;
        const run::StepPrediction& step = prediction.steps.front();
        QCOMPARE(step.doubt, run::Doubt::None);
        QCOMPARE(step.cached, (run::CountRange{metrics.cachedTokens, metrics.cachedTokens}));
        QCOMPARE(step.relocated, (run::CountRange{metrics.relocatedTokens, metrics.relocatedTokens}));
      }
      loaded += static_cast<int>(session.sink.all<trace::BlockLoaded>().size());
    }
    QVERIFY2(loaded > 5, qPrintable(QString("only %1 blocks were loaded").arg(loaded)));
  }

  /// The file is damaged after the prediction could have known.
  void whatIsOnTheDiskIsNeverForetoldForSure() {
    const Folder folder;
    const plan::Plan plan = planOf(kQuestion);
    {
      SpanletSession one(folder.config());
      one.session->run(plan, {});
    }
    SpanletSession other(folder.config());
    {
      std::fstream file(folder.packs().front(), std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(-5000, std::ios::end);
      file.put('!').put('!');
    }
    const run::StepPrediction step = other.session->predictor()->predict(plan, {}).steps.front();
    const trace::StepMetrics metrics = other.session->run(plan, {}).steps.front().metrics;
    QCOMPARE(step.doubt, run::Doubt::Tiers);
    QVERIFY(metrics.cachedTokens == 0 && step.cached.most > 40);
    QVERIFY(step.cached.holds(metrics.cachedTokens) && step.computed.holds(metrics.computedTokens));
  }

  /// A session that has yet to begin will open the folder; until then nobody knows what is there.
  void beforeASessionBeginsTheDiskIsUnknown() {
    const Folder folder;
    const plan::Plan plan = planOf(kQuestion);
    {
      SpanletSession one(folder.config());
      one.session->run(plan, {});
    }
    SpanletSession other(folder.config());
    run::Predictor predictor(
        folder.config(), other.config, *other.tokenizer,
        text::findChatTemplate(fs::path(SPANSCOPE_SOURCE_DIR) / "resources/models/spanlet"));
    const run::StepPrediction step = predictor.predict(plan, {}).steps.front();
    const trace::StepMetrics metrics = other.session->run(plan, {}).steps.front().metrics;
    QCOMPARE(step.doubt, run::Doubt::Tiers);
    QVERIFY(metrics.cachedTokens > 40 && step.cached.least == 0);
    QVERIFY(step.cached.holds(metrics.cachedTokens) && step.relocated.holds(metrics.relocatedTokens));
  }
};

SPANSCOPE_TEST(tst_session_store, TestSessionStore)
#include "tst_session_store.moc"
