// SPDX-License-Identifier: GPL-3.0-or-later
// Watches stand-in servers: counters in metrics, slots, and servers that are not there.
#include "engine/base/error.h"
#include "engine/remote/server/kv_events.h"
#include "engine/remote/watch/watch.h"
#include "engine/trace/recorder.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/engine/remote/watch/any_publisher.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::watch;
using remote::test::http;

namespace {

constexpr int kWait = 20'000;  // milliseconds

}  // namespace

class TestWatch : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void totals_data();
  void totals();
  void llamaServer();
  void eventsAndMetrics();
  void eventsHaveTheirOwnTimes();
  void noServer();
  void mistakes();
};

void TestWatch::totals_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<int>("prompt");
  QTest::addColumn<int>("cached");
  QTest::newRow("vllm") << QByteArray(
                               "# HELP vllm:prefix_cache_queries_total x\n"
                               "vllm:prefix_cache_queries_created{engine=\"0\"} 5\n"
                               "vllm:prefix_cache_queries_total{engine=\"0\",model_name=\"m\"} 1.2e2\n"
                               "vllm:prefix_cache_queries_total{engine=\"1\",model_name=\"m}\"} 30.0\n"
                               "vllm:prefix_cache_hits_total{engine=\"0\"} 64.0\n")
                        << 150 << 64;
  QTest::newRow("sglang") << QByteArray(
                                 "sglang:prompt_tokens_total{a=\"b\"} 7\nsglang:cached_tokens_total 3\n")
                          << 7 << 3;
  QTest::newRow("llama") << QByteArray(
                                "llamacpp:prompt_tokens_total 7\nllamacpp:prompt_tokens_cached_total 3\n")
                         << 10 << 3;
  QTest::newRow("spanscope")
      << QByteArray("spanscope_prompt_tokens_total 7\nspanscope_prompt_tokens_cached_total 3\n") << 7 << 3;
  QTest::newRow("half") << QByteArray("vllm:prefix_cache_queries_total 5\n") << -1 << -1;
  QTest::newRow("none") << QByteArray() << -1 << -1;
  QTest::newRow("wrong") << QByteArray(
                                "vllm:prefix_cache_queries_total nan\nvllm:prefix_cache_hits_total{x\n")
                         << -1 << -1;
}

void TestWatch::totals() {
  QFETCH(QByteArray, text);
  QFETCH(int, prompt);
  QFETCH(int, cached);
  const std::optional<TokenTotals> read = totalsIn(text.toStdString());
  QCOMPARE(read.has_value(), prompt >= 0);
  if (read) QVERIFY((*read == TokenTotals{.prompt = prompt, .cached = cached}));
}

void TestWatch::llamaServer() {
  std::atomic<int> task = 0;
  remote::test::Server server([&task](const QByteArray& request) {
    if (request.startsWith("GET /slots")) {
      const QByteArray number = QByteArray::number(task);
      return http(200, R"([{"id":0,"n_ctx":64,"is_processing":true,"id_task":)" + number +
                           R"(,"n_prompt_tokens":32,"n_prompt_tokens_processed":32}])");
    }
    if (request.startsWith("GET /metrics")) {
      const QByteArray number = QByteArray::number(32 * task);
      return http(200,
                  "llamacpp:prompt_tokens_total " + number + "\nllamacpp:prompt_tokens_cached_total 0\n");
    }
    if (request.startsWith("GET /v1/models"))
      return http(200, R"({"object":"list","data":[{"id":"m","object":"model","owned_by":"llamacpp"}]})");
    if (request.startsWith("GET /props"))
      return http(200, R"({"total_slots":1,"build_info":"b1","default_generation_settings":{"n_ctx":64}})");
    return http(404, "");
  });
  trace::Recorder recorder({.keepEvents = true, .clock = {}});
  auto watch = std::make_unique<Watch>(WatchConfig{.url = server.address(),
                                                   .metricsPeriod = std::chrono::milliseconds(20),
                                                   .slotsPeriod = std::chrono::milliseconds(10)},
                                       recorder);
  QTRY_COMPARE_WITH_TIMEOUT(watch->state().tasks, std::uint64_t{1}, kWait);
  task = 1;
  QTRY_COMPARE_WITH_TIMEOUT(watch->state().tasks, std::uint64_t{2}, kWait);
  QTRY_VERIFY_WITH_TIMEOUT(watch->state().tokens && watch->state().tokens->prompt == 32, kWait);
  QCOMPARE(watch->state().server, std::string("llama.cpp b1"));
  watch.reset();
  QVERIFY(!recorder.contradiction());
}

/// The version and the size of the cache come from the server, the blocks from the events.
void TestWatch::eventsAndMetrics() {
  const QTemporaryDir folder;
  const std::string endpoint = "ipc://" + folder.filePath("e").toStdString();
  const std::string replay = "ipc://" + folder.filePath("r").toStdString();
  server::KvPublisher publisher({.endpoint = endpoint, .replayEndpoint = replay});
  publisher.publish({server::KvBlocksStored{.hashes = {1}, .parent = {}, .tokens = {1, 2}, .blockSize = 2}});
  remote::test::Server web([](const QByteArray& request) {
    if (request.startsWith("GET /metrics"))
      return http(200,
                  "vllm:cache_config_info{block_size=\"2\",num_gpu_blocks=\"9\"} 1\n"
                  "vllm:prefix_cache_queries_total 5\nvllm:prefix_cache_hits_total 1\n");
    if (request.startsWith("GET /version")) return http(200, R"({"version":"9.1"})");
    if (request.startsWith("GET /v1/models"))
      return http(200, R"({"object":"list","data":[{"id":"m","object":"model","owned_by":"vllm"}]})");
    return http(404, "");
  });
  trace::Recorder recorder({.keepEvents = true, .clock = {}});
  auto watch = std::make_unique<Watch>(
      WatchConfig{.url = web.address(), .publishers = {{.endpoint = endpoint, .replayEndpoint = replay}}},
      recorder);
  QTRY_COMPARE_WITH_TIMEOUT(watch->state().cached, std::int64_t{1}, kWait);
  QCOMPARE(watch->state().server, std::string("vLLM 9.1"));
  QCOMPARE(recorder.pool().blocks.size(), std::size_t{9});
  QTRY_VERIFY_WITH_TIMEOUT(watch->state().tokens.has_value(), kWait);
  QElapsedTimer timer;
  timer.start();
  watch.reset();
  constexpr int kSlowMachine = 1000;
  QVERIFY2(timer.elapsed() < kSlowMachine, qPrintable(QString::number(timer.elapsed())));
  QVERIFY(!recorder.contradiction());
}

/// Replayed messages arrive together, but the trace has the times of their publisher.
void TestWatch::eventsHaveTheirOwnTimes() {
  constexpr double kStart = 1'700'000'000;
  constexpr std::int64_t kBillion = 1'000'000'000;
  const QTemporaryDir folder;
  const std::string endpoint = "ipc://" + folder.filePath("e").toStdString();
  const std::string replay = "ipc://" + folder.filePath("r").toStdString();
  const auto message = [](std::uint64_t hash, double time) {
    return server::packed({.time = time,
                           .events = {server::KvBlocksStored{
                               .hashes = {hash}, .parent = {}, .tokens = {1, 2}, .blockSize = 2}}});
  };
  const std::map<std::uint64_t, std::string> kept{
      {0, message(1, kStart)}, {1, message(2, kStart + 60)}, {2, message(3, kStart + 90)}};
  Publisher publisher(endpoint, replay, kept);
  WatchConfig config{.publishers = {{.endpoint = endpoint, .replayEndpoint = replay}}};
  trace::RecorderOptions options = recorderOptions(config);
  options.keepEvents = true;
  trace::Recorder recorder(options);
  auto watch = std::make_unique<Watch>(config, recorder);
  QTRY_COMPARE_WITH_TIMEOUT(watch->state().cached, std::int64_t{3}, kWait);
  // A live message.
  publisher.send(3, message(4, kStart + 95));
  QTRY_COMPARE_WITH_TIMEOUT(watch->state().cached, std::int64_t{4}, kWait);
  watch.reset();
  std::vector<std::int64_t> times;
  std::size_t runs = 0;
  for (const trace::Event& event : recorder.events()) {
    if (std::holds_alternative<trace::BlockStored>(event.payload)) times.push_back(event.time);
    if (std::holds_alternative<trace::RunStarted>(event.payload)) ++runs;
  }
  QCOMPARE(times.size(), std::size_t{4});
  // The times of messages are floating-point numbers.
  const auto seconds = [&times](std::size_t i) {
    return (times[i] - times[i - 1] + kBillion / 1000) / kBillion;
  };
  QCOMPARE(seconds(1), std::int64_t{60});
  QCOMPARE(seconds(2), std::int64_t{30});
  QCOMPARE(seconds(3), std::int64_t{5});
  // A run covers about 10 s, so three messages begin a run.
  QVERIFY(runs >= 3);
  QVERIFY(!recorder.contradiction());
}

void TestWatch::noServer() {
  trace::NoSink sink;
  const std::string nobody = "http://127.0.0.1:" + std::to_string(remote::test::closedPort());
  const Watch watch({.url = nobody}, sink);
  QTRY_VERIFY_WITH_TIMEOUT(watch.state().hasEnded, kWait);
  QVERIFY(!watch.state().problem.empty());
  // The events alone can be enough.
  const Watch events({.url = nobody, .publishers = {{.endpoint = "tcp://127.0.0.1:9"}}}, sink);
  QTRY_VERIFY_WITH_TIMEOUT(!events.state().problem.empty(), kWait);
  QVERIFY(!events.state().hasEnded);
}

void TestWatch::mistakes() {
  trace::NoSink sink;
  QVERIFY_EXCEPTION_THROWN(Watch({}, sink), Failure);
  QVERIFY_EXCEPTION_THROWN(Watch({.url = "ftp://x"}, sink), Failure);
  QVERIFY_EXCEPTION_THROWN(Watch({.publishers = {{.endpoint = "localhost:5557"}}}, sink), Failure);
}

SPANSCOPE_TEST(tst_watch, TestWatch, QCoreApplication)
#include "tst_watch.moc"
