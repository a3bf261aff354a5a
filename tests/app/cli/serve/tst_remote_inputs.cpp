// SPDX-License-Identifier: GPL-3.0-or-later
// spanq remote run over a file of inputs: killed, stopped, continued, with a server that counts.
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
// Qt Test needs this type to compare JSON values.
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using spanscope::remote::test::http;
using spanscope::remote::test::ServerOfMany;

namespace {

using Json = nlohmann::json;

constexpr int kInputsPatience = 60'000;
constexpr int kLines = 300;
constexpr int kAtOnce = 8;

/// A server that repeats the question, and counts each question.
struct CountingServer {
  ServerOfMany server{[this](const QByteArray& request) {
    const QByteArray path = request.split(' ').value(1);
    if (path == "/v1/models")
      return http(200, R"({"object":"list","data":[{"id":"tiny","owned_by":"vllm"}]})");
    if (path != "/v1/chat/completions") return http(404, "{}");
    const QByteArray bodyBytes = request.mid(request.indexOf("\r\n\r\n") + 4);
    const Json body = Json::parse(bodyBytes.toStdString(), nullptr, false);
    if (!body.is_object()) return http(400, "{}");
    const std::string text = body["messages"].back()["content"];
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::size_t place = 0;
    {
      const std::lock_guard lock(mutex);
      ++counts[text];
      order.push_back(text);
      place = order.size();
    }
    if (place > answered) {
      ++held;
      while (!isReleased && !server.isEnding()) std::this_thread::yield();
    }
    if (text.find("fails") != std::string::npos && isFailing)
      return http(500, R"({"error":{"message":"broken"}})");
    const Json answer{
        {"object", "chat.completion"},
        {"model", "tiny"},
        {"choices", Json::array({{{"index", 0},
                                  {"message", {{"role", "assistant"}, {"content", "to " + text}}},
                                  {"finish_reason", "stop"}}})},
        {"usage", {{"prompt_tokens", 7}, {"completion_tokens", 2}}}};
    return http(200, QByteArray::fromStdString(answer.dump()));
  }};
  std::size_t sent() {
    const std::lock_guard lock(mutex);
    std::size_t sum = 0;
    for (const auto& [text, count] : counts) sum += static_cast<std::size_t>(count);
    return sum;
  }

  std::mutex mutex;
  std::map<std::string, int> counts;
  std::vector<std::string> order;  ///< the questions as they came
  bool isFailing = true;
  std::size_t answered = SIZE_MAX;  ///< later questions wait for `isReleased`
  std::atomic<std::size_t> held = 0;
  std::atomic<bool> isReleased = false;
};

struct Folder {
  explicit Folder(int lines, const std::string& special = {}) {
    std::string text;
    for (int i = 1; i <= lines; ++i)
      text +=
          Json{{"id", i}, {"q", i == 5 && !special.empty() ? special : "line " + std::to_string(i)}}.dump() +
          "\n";
    write("inputs.jsonl", text);
    write("query.json", R"({"g":{"model":"tiny","max_tokens":8,"input":{"user":"{q}"}}})");
  }
  void write(const QString& name, const std::string& text) const {
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text.data(), static_cast<qint64>(text.size()));
  }
  std::vector<Json> results() const {
    QFile file(folder.filePath("results.jsonl"));
    std::vector<Json> lines;
    if (!file.open(QIODevice::ReadOnly)) return lines;
    while (!file.atEnd()) lines.push_back(Json::parse(file.readLine().toStdString()));
    return lines;
  }
  /// The results in the journal.
  int journaled() const {
    QFile file(folder.filePath("results.jsonl.journal"));
    return file.open(QIODevice::ReadOnly) ? static_cast<int>(file.readAll().count("\"result\":")) : 0;
  }
  bool hasJournal() const { return QFile::exists(folder.filePath("results.jsonl.journal")); }

  QTemporaryDir folder;
};

void start(QProcess& process, const Folder& folder, const std::string& address,
           const QStringList& more = {"--order", "written"}, int atOnce = kAtOnce) {
  process.setWorkingDirectory(folder.folder.path());
  process.start(
      QStringLiteral(SPANSCOPE_SPANQ),
      QStringList{"remote", "run", QString::fromStdString(address), "query.json", "--inputs", "inputs.jsonl",
                  "--results", "results.jsonl", "--at-once", QString::number(atOnce)} +
          more);
}

int finish(QProcess& process) {
  return process.waitForFinished(kInputsPatience) && process.exitStatus() == QProcess::NormalExit
             ? process.exitCode()
             : -1;
}

void verifyResults(const Folder& folder, int lines) {
  const std::vector<Json> results = folder.results();
  QCOMPARE(static_cast<int>(results.size()), lines);
  for (int i = 1; i <= lines; ++i) {
    QCOMPARE(results[static_cast<std::size_t>(i - 1)]["line"].get<int>(), i);
    QCOMPARE(results[static_cast<std::size_t>(i - 1)]["answer"].get<std::string>(),
             "to line " + std::to_string(i));
  }
}

}  // namespace

class TestRemoteInputs : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answersEveryLineOnce();
  void continuesAfterAKill();
  void continuesAfterAStop();
  void failedLinesAreTriedAgain();
  void otherJobsAreRefused();
  void commonBeginningsFollowEachOther();
  void continuesAScheduleAfterAKill_data();
  void continuesAScheduleAfterAKill();
  void anotherSettingIsAnotherJob();
};

void TestRemoteInputs::answersEveryLineOnce() {
  CountingServer server;
  const Folder folder(kLines);
  QProcess process;
  start(process, folder, server.server.address());
  QCOMPARE(finish(process), 0);
  verifyResults(folder, kLines);
  QCOMPARE(server.sent(), std::size_t(kLines));
  QVERIFY(server.server.most() <= kAtOnce);
  QVERIFY(!folder.hasJournal());
  QCOMPARE(folder.results().front()["prompt_tokens"].get<int>(), 7);
  QVERIFY(folder.results().front()["cached_tokens"].is_null());
}

void TestRemoteInputs::continuesAfterAKill() {
  CountingServer server;
  const Folder folder(kLines);
  std::size_t before = 0;
  for (int kill = 1; kill <= 2; ++kill) {
    QProcess process;
    start(process, folder, server.server.address());
    QTRY_VERIFY_WITH_TIMEOUT(server.sent() >= before + 60, kInputsPatience);
    ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
    process.waitForFinished(kInputsPatience);
    before = server.sent();
    QVERIFY(folder.hasJournal());
  }
  // A kill can cut a record off.
  QFile journal(folder.folder.filePath("results.jsonl.journal"));
  QVERIFY(journal.open(QIODevice::Append));
  journal.write("{\"line\":299,\"resu");
  journal.close();
  QProcess process;
  start(process, folder, server.server.address());
  QCOMPARE(finish(process), 0);
  verifyResults(folder, kLines);
  // Only lines that were in progress at a kill were sent twice.
  QVERIFY(server.sent() <= std::size_t(kLines + 2 * kAtOnce));
  QVERIFY(!folder.hasJournal());
}

void TestRemoteInputs::continuesAfterAStop() {
  CountingServer server;
  const Folder folder(kLines);
  QProcess process;
  start(process, folder, server.server.address());
  QTRY_VERIFY_WITH_TIMEOUT(server.sent() >= 60, kInputsPatience);
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  QCOMPARE(finish(process), 130);
  QVERIFY(folder.hasJournal());
  QVERIFY(folder.results().empty());
  QProcess next;
  start(next, folder, server.server.address());
  QCOMPARE(finish(next), 0);
  verifyResults(folder, kLines);
  QVERIFY(server.sent() <= std::size_t(kLines + kAtOnce));
}

void TestRemoteInputs::failedLinesAreTriedAgain() {
  CountingServer server;
  const Folder folder(10, "fails");
  QProcess process;
  start(process, folder, server.server.address());
  QCOMPARE(finish(process), 3);
  QCOMPARE(folder.results().size(), std::size_t(10));
  QVERIFY(folder.results()[4].contains("error"));
  server.isFailing = false;
  QProcess next;
  start(next, folder, server.server.address());
  QCOMPARE(finish(next), 0);
  QCOMPARE(folder.results()[4]["answer"].get<std::string>(), std::string("to fails"));
  QCOMPARE(server.sent(), std::size_t(11));
}

void TestRemoteInputs::otherJobsAreRefused() {
  CountingServer server;
  const Folder folder(10, "fails");
  QProcess process;
  start(process, folder, server.server.address());
  QCOMPARE(finish(process), 3);
  folder.write("inputs.jsonl", "{\"q\":\"other\"}\n");
  QProcess next;
  start(next, folder, server.server.address());
  QVERIFY(finish(next) != 0);
  QCOMPARE(server.sent(), std::size_t(10));
  folder.write("inputs.jsonl", "no JSON\n");
  QFile::remove(folder.folder.filePath("results.jsonl.journal"));
  QProcess wrong;
  start(wrong, folder, server.server.address());
  QCOMPARE(finish(wrong), 3);
  QVERIFY(folder.results().front().contains("error"));
}

/// Lines that begin with the same document are sent one after the other. The results keep their order.
void TestRemoteInputs::commonBeginningsFollowEachOther() {
  CountingServer server;
  const Folder folder(0);
  folder.write("query.json",
               R"({"g":{"model":"tiny","input":{"cross":[{"user":"{document}"},{"user":"{q}"}]}}})");
  const std::string first(200, 'a');
  const std::string second(200, 'b');
  std::string text;
  for (int i = 1; i <= 6; ++i)
    text += Json{{"document", i % 2 == 0 ? first : second}, {"q", "line " + std::to_string(i)}}.dump() + "\n";
  folder.write("inputs.jsonl", text);
  QProcess process;
  start(process, folder, server.server.address(), {}, 1);
  QCOMPARE(finish(process), 0);
  verifyResults(folder, 6);
  QCOMPARE(server.order.size(), std::size_t{6});
  const auto isEven = [&server](std::size_t place) { return (server.order[place].back() - '0') % 2 == 0; };
  for (const std::size_t place : {1U, 2U}) QCOMPARE(isEven(place), isEven(0));
  for (const std::size_t place : {3U, 4U, 5U}) QCOMPARE(isEven(place), !isEven(0));
}

void TestRemoteInputs::continuesAScheduleAfterAKill_data() {
  QTest::addColumn<int>("atOnce");
  QTest::newRow("one line at a time") << 1;
  QTest::newRow("four lines at the same time") << 4;
}

/// Lines with an answer are not sent again. Lines in progress at the kill are sent again. The other lines are
/// sent once.
void TestRemoteInputs::continuesAScheduleAfterAKill() {
  QFETCH(int, atOnce);
  constexpr int kDocuments = 3;
  constexpr int kAll = 24;
  constexpr int kAnswered = 10;
  CountingServer server;
  server.answered = kAnswered;
  const Folder folder(0);
  folder.write("query.json",
               R"({"g":{"model":"tiny","input":{"cross":[{"user":"{document}"},{"user":"{q}"}]}}})");
  std::string text;
  for (int i = 1; i <= kAll; ++i)
    text += Json{{"document", std::string(200, static_cast<char>('a' + i % kDocuments))},
                 {"q", "line " + std::to_string(i)}}
                .dump() +
            "\n";
  folder.write("inputs.jsonl", text);
  QProcess process;
  start(process, folder, server.server.address(), {}, atOnce);
  QTRY_VERIFY_WITH_TIMEOUT(server.held == static_cast<std::size_t>(atOnce), kInputsPatience);
  QTRY_COMPARE_WITH_TIMEOUT(folder.journaled(), kAnswered, kInputsPatience);
  ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
  process.waitForFinished(kInputsPatience);
  server.isReleased = true;
  QProcess next;
  start(next, folder, server.server.address(), {}, atOnce);
  QCOMPARE(finish(next), 0);
  verifyResults(folder, kAll);
  QVERIFY(!folder.hasJournal());
  QCOMPARE(server.sent(), static_cast<std::size_t>(kAll + atOnce));
  for (std::size_t place = 0; place < server.order.size(); ++place) {
    const bool wasHeld = server.counts[server.order[place]] == 2;
    if (place < kAnswered) QVERIFY(!wasHeld);
    if (place >= kAnswered && place < static_cast<std::size_t>(kAnswered + atOnce)) QVERIFY(wasHeld);
  }
  if (atOnce > 1) return;
  // The lines of a document still follow each other.
  int changes = 0;
  const auto documentAt = [&server](std::size_t place) {
    return std::stoi(server.order[place].substr(5)) % kDocuments;
  };
  for (std::size_t place = kAnswered + 2; place < server.order.size(); ++place)
    changes += documentAt(place) != documentAt(place - 1) ? 1 : 0;
  QVERIFY(changes < kDocuments);
}

/// These settings change the prompts, so the journal has answers to other prompts.
void TestRemoteInputs::anotherSettingIsAnotherJob() {
  CountingServer server;
  const Folder folder(10, "fails");
  QProcess process;
  start(process, folder, server.server.address(), {});
  QCOMPARE(finish(process), 3);
  for (const QStringList& more :
       {QStringList{"--order-note"}, QStringList{"--order", "written"}, QStringList{"--template", "chatml"},
        QStringList{"--tokenizer", QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet")},
        QStringList{"--locality", "2"}, QStringList{"--seed", "4"}}) {
    QProcess other;
    start(other, folder, server.server.address(), more);
    QVERIFY(finish(other) != 0);
  }
  QCOMPARE(server.sent(), std::size_t(10));
}

SPANSCOPE_TEST(tst_remote_inputs, TestRemoteInputs)
#include "tst_remote_inputs.moc"
