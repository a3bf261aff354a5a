// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq model get` from a hub of the test: lists, downloads, a killed process, two processes, refusals.
#include "tests/app/cli/spanq_process.h"
#include "tests/engine/remote/hub/stand_in_hub.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QString>
#include <QStringList>
#include <QTest>

#include <nlohmann/json.hpp>

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

using spanscope::product_text::says;
using spanscope::test::spanq;
using spanscope::test::SpanqResult;
using namespace spanscope::remote::test;
using HubJson = nlohmann::json;

namespace {

constexpr int kHubPatience = 20'000;  // milliseconds

/// Sets the variables of this hub for this process.
class HubVariables {
 public:
  explicit HubVariables(const Hub& hub, const QByteArray& token = {}) {
    for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HUGGING_FACE_HUB_TOKEN"})
      qunsetenv(name);
    qputenv("HF_ENDPOINT", QByteArray::fromStdString(hub.place().endpoint));
    qputenv("HF_HUB_CACHE", QByteArray::fromStdString(hub.place().cache.string()));
    qputenv("HF_TOKEN_PATH", "/no/such/file");
    qputenv("HF_TOKEN", token);
    qputenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/no/such/bus");  // no secret store
  }
  ~HubVariables() {
    for (const char* name : {"HF_ENDPOINT", "HF_HUB_CACHE", "HF_TOKEN_PATH", "HF_TOKEN", "HF_HUB_OFFLINE"})
      qunsetenv(name);
  }
  HubVariables(const HubVariables&) = delete;
  HubVariables& operator=(const HubVariables&) = delete;
};

}  // namespace

class TestSpanqGet : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void listsAndGets() {
    Hub hub;
    hub.files["m-Q4_K_M.gguf"] = std::string(3000, 'q');
    const HubVariables variables(hub);
    const SpanqResult text = spanq({"model", "get", kHubRepository, "--list"});
    QCOMPARE(text.code, 0);
    for (const char* part : {"safetensors", "m-Q4_K_M.gguf", "README.md"})
      QVERIFY2(text.out.find(part) != std::string::npos, text.out.c_str());
    QCOMPARE(hub.gets(), 0);

    const SpanqResult got = spanq({"model", "get", kHubRepository});
    QCOMPARE(got.code, 0);
    const std::filesystem::path folder = hub.folder() / "snapshots" / kHubCommit;
    QCOMPARE(got.out, folder.string() + "\n");
    QCOMPARE(hub.gets(), 3);  // not the README and not the GGUF file

    const SpanqResult json = spanq({"model", "get", kHubRepository + std::string(":q4_k_m"), "--json"});
    QCOMPARE(json.code, 0);
    const HubJson report = HubJson::parse(json.out);
    QCOMPARE(report["path"].get<std::string>(), (folder / "m-Q4_K_M.gguf").string());
    QCOMPARE(report["models"].size(), std::size_t{2});
    for (const HubJson& file : report["files"])
      QCOMPARE(file["on_this_machine"].get<bool>(), file["name"] != "README.md");
  }

  /// The process is killed in the middle of a file. Another process continues there.
  void killedProcessesAreContinued() {
    constexpr std::size_t kSent = 20'000;
    std::atomic<bool> stalls = true;
    Hub hub(
        [&](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
          if (!stalls || !asked.isFile()) return std::nullopt;
          return served.fileAnswer(asked, kHubWeights).chopped(50'000 - kSent);
        },
        Server::After::Hold);
    const HubVariables variables(hub);
    const std::string name = kHubRepository + std::string(":") + kHubWeights;
    QProcess process;
    process.start(QStringLiteral(SPANSCOPE_SPANQ),
                  {QStringLiteral("model"), QStringLiteral("get"), QString::fromStdString(name)});
    const auto part = hub.unfinished(kHubWeights);
    QTRY_VERIFY_WITH_TIMEOUT(std::filesystem::exists(part) && std::filesystem::file_size(part) == kSent,
                             kHubPatience);
    process.kill();
    QVERIFY(process.waitForFinished(kHubPatience));
    stalls = false;
    QCOMPARE(spanq({"model", "get", name}).code, 0);
    QCOMPARE(hub.asked().back().from(), kSent);
    QCOMPARE(readBytes(hub.blob(kHubWeights)), hub.files[kHubWeights]);
    QVERIFY(!std::filesystem::exists(part));
  }

  void twoProcessesShareADownload() {
    std::atomic<int> heads = 0;
    Hub hub([&](const Hub&, const HubAsked& asked) -> std::optional<QByteArray> {
      heads += asked.method == "HEAD" ? 1 : 0;
      // Both processes know the file before one gets it.
      for (int i = 0; asked.isFile() && i < kHubPatience && heads < 2; ++i) QThread::msleep(1);
      return std::nullopt;
    });
    const HubVariables variables(hub);
    const QStringList arguments{QStringLiteral("model"), QStringLiteral("get"),
                                QString::fromStdString(kHubRepository + std::string(":") + kHubWeights)};
    QProcess first;
    QProcess second;
    for (QProcess* process : {&first, &second}) process->start(QStringLiteral(SPANSCOPE_SPANQ), arguments);
    for (QProcess* process : {&first, &second}) {
      QVERIFY(process->waitForFinished(kHubPatience));
      QCOMPARE(process->exitCode(), 0);
    }
    QCOMPARE(hub.gets(), 1);
    QCOMPARE(readBytes(hub.blob(kHubWeights)), hub.files[kHubWeights]);
  }

  void refusalsAreReported() {
    Hub hub([&](const Hub&, const HubAsked&) -> std::optional<QByteArray> {
      return hubAnswer("401 No", "X-Error-Code: GatedRepo\r\n" + lengthLine(0));
    });
    const HubVariables variables(hub, "hf_secret");
    SpanqResult result = spanq({"model", "get", kHubRepository});
    QCOMPARE(result.code, 3);
    QVERIFY2(says(result.err, "<hub-gated-token>"), result.err.c_str());
    QVERIFY(result.err.find("hf_secret") == std::string::npos);
    QVERIFY(hub.asked().front().hasToken());
    result = spanq({"model", "get", "../../etc"});
    QCOMPARE(result.code, 1);
    QVERIFY2(says(result.err, "<hub-name-form>"), result.err.c_str());
    qputenv("HF_HUB_OFFLINE", "1");
    result = spanq({"model", "get", kHubRepository});
    QCOMPARE(result.code, 3);
    QVERIFY2(says(result.err, "<hub-offline>"), result.err.c_str());
  }
};

SPANSCOPE_TEST(tst_spanq_get, TestSpanqGet, QCoreApplication)
#include "tst_spanq_get.moc"
