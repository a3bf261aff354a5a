// SPDX-License-Identifier: GPL-3.0-or-later
// A watched server as the trace of a tab.
#include "engine/base/error.h"
#include "engine/remote/server/kv_events.h"
#include "tests/support/test_program.h"
#include "ui/session/trace_store.h"
#include "ui/session/watch_source.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstdint>
#include <string>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kLong = 20'000;  // milliseconds

server::KvBlocksStored storedBlock(std::uint64_t hash) {
  return {.hashes = {hash}, .parent = {}, .tokens = {static_cast<TokenId>(hash), 1}, .blockSize = 2};
}

}  // namespace

class TestWatchSource : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void live();
  void mistakes();
};

/// Events appear in the trace. After the end they stay, and the file has them, too.
void TestWatchSource::live() {
  const QTemporaryDir folder;
  const std::string endpoint = "ipc://" + folder.filePath("e").toStdString();
  const std::string replay = "ipc://" + folder.filePath("r").toStdString();
  const std::string file = folder.filePath("w.trace").toStdString();
  server::KvPublisher publisher({.endpoint = endpoint, .replayEndpoint = replay});
  publisher.publish({storedBlock(1), storedBlock(2)});
  watch::WatchConfig config;
  config.publishers.push_back({.endpoint = endpoint, .replayEndpoint = replay});
  WatchSource source(std::move(config), file);
  QVERIFY(source.isOpen());
  QVERIFY(!source.takesRuns());
  const auto cached = [&source] {
    source.drain();
    return source.trace()->newest().pool().cachedCount();
  };
  QTRY_COMPARE_WITH_TIMEOUT(cached(), std::size_t{2}, kLong);
  QVERIFY(source.takeNewRun());
  QVERIFY(!source.takeNewRun());
  publisher.publish({storedBlock(3)});
  QTRY_COMPARE_WITH_TIMEOUT(cached(), std::size_t{3}, kLong);
  QVERIFY(source.trace()->contradictions().empty());

  const ReportedFacts facts = source.reports();
  for (const Fact fact : {Fact::Prompts, Fact::Pool, Fact::BlockLookups})
    QVERIFY(facts.of(fact) == Reporting::Reported);
  for (const Fact fact :
       {Fact::TokenTexts, Fact::CachedTokens, Fact::Attention, Fact::Passes, Fact::TokenTimes})
    QVERIFY(facts.of(fact) == Reporting::CannotBeReported);

  source.stop();
  QVERIFY(source.fileProblem().isEmpty());
  QVERIFY(!source.isOpen());
  QCOMPARE(source.trace()->newest().pool().cachedCount(), std::size_t{3});
  const TraceStore read = TraceStore::open(file);
  QVERIFY(read.contradictions().empty());
  QCOMPARE(read.size(), source.trace()->size());
  QVERIFY(read.newest().pool().state() == source.trace()->newest().pool().state());
  // A file states itself what it cannot report.
  const ReportedFacts ofFile = reportedBy(read, Reporting::CannotBeReported);
  QVERIFY(ofFile.of(Fact::Pool) == Reporting::Reported);
  QVERIFY(ofFile.of(Fact::Attention) == Reporting::CannotBeReported);
  QVERIFY(ofFile.of(Fact::TokenTexts) == Reporting::CannotBeReported);
}

void TestWatchSource::mistakes() {
  QVERIFY_EXCEPTION_THROWN(WatchSource(watch::WatchConfig()), Failure);
  watch::WatchConfig config;
  config.url = "http://127.0.0.1:9";
  QVERIFY_EXCEPTION_THROWN(WatchSource(config, "/missing/folder/x.trace"), Failure);
}

SPANSCOPE_TEST(tst_watch_source, TestWatchSource, QCoreApplication)
#include "tst_watch_source.moc"
