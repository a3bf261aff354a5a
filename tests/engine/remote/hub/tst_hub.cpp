// SPDX-License-Identifier: GPL-3.0-or-later
// Downloads from a hub that cuts, lies, redirects, refuses, stalls and never ends, and the cache that
// remains.
#include "engine/base/error.h"
#include "engine/remote/hub/hub_download.h"
#include "tests/engine/remote/hub/stand_in_hub.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope;
using namespace std::chrono_literals;
using namespace remote::test;
using remote::HttpClient;
using remote::HubListing;
using remote::HubModel;
using remote::HubName;
using spanscope::product_text::says;

namespace fs = std::filesystem;

class TestHub : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void namesAreRead_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("repository");
    QTest::addColumn<QString>("file");
    const auto row = [](const char* text, const char* repository, const char* file = "") {
      QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(repository)
                          << QString::fromUtf8(file);
    };
    row("org/name", "org/name");
    row("gpt2", "gpt2");
    row("org/na.me-1_b:Q4_K_M", "org/na.me-1_b", "Q4_K_M");
    row("org/name:folder/a b.gguf", "org/name", "folder/a b.gguf");
    row("https://huggingface.co/org/name/", "org/name");
    row("https://huggingface.co/org/name/tree/main", "org/name");
    row("hf.co/org/name:Q8_0", "org/name", "Q8_0");
    row("https://huggingface.co/org/name/blob/main/x/y.gguf", "org/name", "x/y.gguf");
    for (const char* bad : {"", "a/b/c", "../x", "a/..", "/etc", "a/b:", "a/b:../../x", "a/b:/etc/passwd",
                            "a b/c", "org/na--me", "https://evil.example/org/name", "-x/y", "a/b:c\\d"})
      row(bad, "");
  }
  void namesAreRead() {
    QFETCH(QString, text);
    QFETCH(QString, repository);
    QFETCH(QString, file);
    const auto name = remote::readHubName(text.toStdString());
    QCOMPARE(std::holds_alternative<HubName>(name), !repository.isEmpty());
    if (repository.isEmpty()) return;
    QCOMPARE(QString::fromStdString(std::get<HubName>(name).repository), repository);
    QCOMPARE(QString::fromStdString(std::get<HubName>(name).file), file);
  }

  /// The cache is that of huggingface_hub. Present files are not fetched again.
  void cacheHasTheUsualLayout() {
    Hub hub;
    hub.place().token = "hf_secret";
    std::vector<remote::HubProgress> told;
    const std::vector<std::string> names{"config.json", "1_Pooling/config.json", kHubWeights};
    const auto folder = hub.get(names, {}, [&told](const remote::HubProgress& now) { told.push_back(now); });
    QVERIFY(folder && *folder == hub.folder() / "snapshots" / kHubCommit);
    for (const std::string& name : names) {
      QCOMPARE(readBytes(*folder / name), hub.files[name]);
      const std::string up = name.find('/') == std::string::npos ? "../../" : "../../../";
      QCOMPARE(fs::read_symlink(*folder / name).string(), up + "blobs/" + hub.hash(name));
      QVERIFY(fs::exists(hub.place().cache / ".locks" / "models--org--model" / (hub.hash(name) + ".lock")));
      QVERIFY(!fs::exists(hub.folder() / "blobs" / (hub.hash(name) + ".incomplete")));
    }
    QCOMPARE(readBytes(hub.folder() / "refs" / "main"), kHubCommit);
    QVERIFY(!told.empty() && told.back().bytes == told.back().total && told.back().number == 3);
    QCOMPARE(told.back().total, std::uint64_t{23 + 2 + 50'000});
    for (const HubAsked& asked : hub.asked()) QVERIFY(asked.hasToken());

    const std::size_t before = hub.asked().size();
    QVERIFY(hub.get(names));
    QCOMPARE(hub.asked().size(), before + 1);  // the list
    // Another commit with the same bytes needs only the facts of the files.
    fs::remove_all(*folder);
    QVERIFY(hub.get(names));
    QCOMPARE(hub.gets(), 3);
  }

  void brokenDownloadsContinue() {
    std::atomic<int> cuts = 0;
    Hub hub([&](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
      if (asked.method != "GET" || !asked.isFor(kHubWeights) || cuts >= 3) return std::nullopt;
      ++cuts;
      return served.fileAnswer(asked, kHubWeights).chopped(10'000);
    });
    QVERIFY(hub.get({kHubWeights}));
    std::vector<std::size_t> begins;
    for (const HubAsked& asked : hub.asked()) {
      if (asked.method == "GET" && asked.isFor(kHubWeights)) begins.push_back(asked.from());
    }
    QVERIFY(begins.size() >= 2 && begins[0] == 0 && begins[1] == 40'000);
  }

  /// What an ended process left, also with wrong bytes.
  void unfinishedFilesContinue_data() {
    QTest::addColumn<QString>("old");
    QTest::addColumn<int>("from");
    QTest::newRow("beginning") << QString(30'000, u'w') << 30'000;
    QTest::newRow("all") << QString(50'000, u'w') << -1;
    QTest::newRow("other bytes") << QString(30'000, u'x') << 30'000;
    QTest::newRow("too long") << QString(50'001, u'w') << 0;
  }
  void unfinishedFilesContinue() {
    QFETCH(QString, old);
    QFETCH(int, from);
    Hub hub;
    const fs::path blob = hub.blob(kHubWeights);
    writeBytes(hub.unfinished(kHubWeights), old.toStdString());
    QVERIFY(hub.get({kHubWeights}));
    QCOMPARE(readBytes(blob), hub.files[kHubWeights]);
    int first = -1;
    for (const HubAsked& asked : hub.asked()) {
      if (asked.method == "GET" && asked.isFor("/resolve/") && first < 0)
        first = static_cast<int>(asked.from());
    }
    QCOMPARE(first, from);
  }

  void serversWithoutRangesStartAgain() {
    Hub hub([&](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
      if (asked.method != "GET" || !asked.isFor("/resolve/")) return std::nullopt;
      return served.fileAnswer({.method = "GET", .path = asked.path, .head = {}}, kHubWeights);
    });
    writeBytes(hub.unfinished(kHubWeights), std::string(100, 'w'));
    const auto folder = hub.get({kHubWeights});
    QVERIFY(folder && readBytes(*folder / kHubWeights) == hub.files[kHubWeights]);
  }

  void liesAreRefused_data() {
    QTest::addColumn<QString>("method");
    QTest::addColumn<QString>("lines");
    QTest::addColumn<int>("bytes");
    QTest::addColumn<QString>("said");
    const QString etag = QStringLiteral("ETag: \"%1\"\r\n").arg(QString(64, u'a'));
    const QString length = QStringLiteral("Content-Length: 50000\r\n");
    QTest::newRow("hash") << "HEAD" << etag + length << 0 << "<hub-wrong-hash>";
    QTest::newRow("no hash") << "HEAD" << length << 0 << "<hub-hash-form>";
    QTest::newRow("path as hash") << "HEAD"
                                  << "ETag: \"../../../evil\"\r\n" + length << 0 << "<hub-hash-form>";
    QTest::newRow("size of the file") << "HEAD" << etag + "Content-Length: 50001\r\n"
                                      << 0 << "<hub-size-differs>";
    QTest::newRow("huge") << "HEAD" << etag + "X-Linked-Size: 99999999999999\r\n"
                          << 0 << "<hub-size-differs>";
    QTest::newRow("longer answer") << "GET"
                                   << "Content-Length: 60000\r\n"
                                   << 60'000 << "<hub-other-size>";
    QTest::newRow("shorter answer") << "GET"
                                    << "Content-Length: 40000\r\n"
                                    << 40'000 << "<hub-other-size>";
    QTest::newRow("endless") << "GET"
                             << "" << 3'000'000 << "<hub-too-much>";
  }
  void liesAreRefused() {
    QFETCH(QString, method);
    QFETCH(QString, lines);
    QFETCH(int, bytes);
    QFETCH(QString, said);
    Hub hub([&](const Hub&, const HubAsked& asked) -> std::optional<QByteArray> {
      if (asked.method != method.toStdString() || !asked.isFor("/resolve/")) return std::nullopt;
      return hubAnswer("200 OK", lines.toStdString(), std::string(static_cast<std::size_t>(bytes), 'w'));
    });
    const std::string found = hub.problemOf({kHubWeights});
    QVERIFY2(says(found, said), found.c_str());
    // No wrong file remains, and the snapshot is no model.
    if (fs::exists(hub.folder() / "blobs")) QVERIFY(fs::is_empty(hub.folder() / "blobs"));
    QVERIFY(!fs::exists(hub.folder() / "refs"));
    QVERIFY(!fs::exists(hub.folder().parent_path() / "evil"));
  }

  void unsafeNamesAreNotListed() {
    Hub hub;
    hub.files["../../evil"] = "x";
    hub.files["/etc/evil"] = "x";
    hub.files["a/./b"] = "x";
    hub.files["a\\b"] = "x";
    hub.files["a//b"] = "x";
    QCOMPARE(hub.list().files.size(), std::size_t{4});
    QVERIFY(!hub.problemOf({"../../evil"}).empty());
  }

  /// A token goes to no other server. The other server is another port here.
  void tokensStayAtTheHub() {
    std::vector<std::string> elsewhere;
    std::mutex mutex;
    Hub other([&](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
      const std::lock_guard lock(mutex);
      elsewhere.push_back(asked.head);
      return served.fileAnswer(asked, kHubWeights);
    });
    Hub hub([&](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
      if (!asked.isFor(kHubWeights)) return std::nullopt;
      return hubAnswer("302 Found", "X-Linked-Etag: \"" + served.hash(kHubWeights) +
                                        "\"\r\nX-Linked-Size: 50000\r\nLocation: " + other.place().endpoint +
                                        "/blob?signature=1%2F2\r\n" + lengthLine(0));
    });
    hub.place().token = "hf_secret";
    const auto folder = hub.get({kHubWeights});
    QVERIFY(folder && readBytes(*folder / kHubWeights) == hub.files[kHubWeights]);
    QCOMPARE(elsewhere.size(), std::size_t{1});
    QVERIFY(elsewhere[0].starts_with("GET /v1/blob?signature=1%2F2 "));
    QVERIFY(elsewhere[0].find("Authorization") == std::string::npos);
    QVERIFY(elsewhere[0].find("hf_secret") == std::string::npos);
  }

  void redirectsEnd() {
    Hub hub([&](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
      if (!asked.isFor("/resolve/")) return std::nullopt;
      return hubAnswer("302 Found", "Location: " + served.place().endpoint + asked.path.substr(3) + "\r\n" +
                                        lengthLine(0));
    });
    const std::string found = hub.problemOf({kHubWeights});
    QVERIFY2(says(found, "<hub-redirects>"), found.c_str());
    QCOMPARE(hub.asked().size(), std::size_t{1 + remote::kMostRedirects + 1});
  }

  void refusalsAreExplained_data() {
    QTest::addColumn<QString>("status");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("without");
    QTest::addColumn<QString>("with");
    QTest::newRow("gated 401") << "401 No"
                               << "GatedRepo"
                               << "<hub-gated>"
                               << "<hub-gated-token>";
    QTest::newRow("gated 403") << "403 No"
                               << "GatedRepo"
                               << "<hub-gated>"
                               << "<hub-gated-token>";
    QTest::newRow("private") << "401 No"
                             << "RepoNotFound"
                             << "<hub-private>"
                             << "<hub-private-token>";
    QTest::newRow("missing") << "404 No"
                             << "RepoNotFound"
                             << "<hub-no-model>"
                             << "<hub-no-model>";
    QTest::newRow("revision") << "404 No"
                              << "RevisionNotFound"
                              << "<hub-no-revision>"
                              << "<hub-no-revision>";
    QTest::newRow("file") << "404 No"
                          << "EntryNotFound"
                          << "<hub-no-file>"
                          << "<hub-no-file>";
    QTest::newRow("broken") << "500 No"
                            << ""
                            << "status 500: hf hub"
                            << "status 500: [the key] hub";
  }
  void refusalsAreExplained() {
    QFETCH(QString, status);
    QFETCH(QString, code);
    QFETCH(QString, without);
    QFETCH(QString, with);
    for (const bool hasToken : {false, true}) {
      const std::string body = hasToken ? "hf_secret hub" : "hf hub";
      Hub hub([&](const Hub&, const HubAsked&) -> std::optional<QByteArray> {
        return hubAnswer(status.toStdString(),
                         "X-Error-Code: " + code.toStdString() + "\r\n" + lengthLine(body.size()), body);
      });
      if (hasToken) hub.place().token = "hf_secret";
      const std::string found = hub.problemOf({kHubWeights});
      QVERIFY2(says(found, hasToken ? with : without), found.c_str());
      QVERIFY(found.find("hf_secret") == std::string::npos);
    }
  }

  void stalledDownloadsStop() {
    Hub hub(
        [&](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
          if (asked.method != "GET" || !asked.isFor("/resolve/")) return std::nullopt;
          return served.fileAnswer(asked, kHubWeights).chopped(10'000);
        },
        remote::test::Server::After::Hold);
    std::stop_source stop;
    QElapsedTimer timer;
    std::jthread watcher;
    const auto folder = hub.get({kHubWeights}, stop.get_token(), [&](const remote::HubProgress& now) {
      if (now.bytes < 40'000 || watcher.joinable()) return;
      watcher = std::jthread([&] {
        std::this_thread::sleep_for(30ms);
        timer.start();
        stop.request_stop();
      });
    });
    QVERIFY(!folder);
    QVERIFY2(timer.elapsed() < 100, qPrintable(QString::number(timer.elapsed())));
    watcher.join();
    QCOMPARE(fs::file_size(hub.unfinished(kHubWeights)), 40'000U);
  }

  void fullDisksAreReported() {
    Hub hub;
    HttpClient client;
    const HubListing listing = hub.list();
    const remote::HubDownload download{.files = {kHubWeights},
                                       .report = {},
                                       .freeBytes = [](const fs::path&) { return std::uint64_t{1000}; }};
    try {
      remote::downloadFromHub(client, hub.place(), listing, download);
      QFAIL("no error");
    } catch (const OutputFailure& failure) {
      QVERIFY2(says(std::string(failure.what()), "1000 <hub-little-space>"), failure.what());
    }
    QCOMPARE(hub.gets(), 0);
  }

  /// Two downloads at once, as of two processes: the second waits for the lock of the first.
  void oneOfTwoFetches() {
    std::atomic<bool> waits = false;
    Hub hub([&](const Hub&, const HubAsked& asked) -> std::optional<QByteArray> {
      if (asked.method == "GET" && asked.isFor("/resolve/")) {
        for (int i = 0; i < 1000 && !waits; ++i) std::this_thread::sleep_for(1ms);
      }
      return std::nullopt;
    });
    std::vector<std::jthread> threads;
    std::atomic<int> done = 0;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        const auto folder = hub.get(
            {kHubWeights}, {}, [&](const remote::HubProgress& now) { waits = waits || now.waitsForOther; });
        done += folder && readBytes(*folder / kHubWeights) == hub.files[kHubWeights] ? 1 : 0;
      });
    }
    threads.clear();
    QCOMPARE(done.load(), 2);
    QVERIFY(waits);
    QCOMPARE(hub.gets(), 1);
  }

  /// A page of a firewall, for example, is no list. A connection that always breaks ends the download.
  void otherAnswersAreExplained() {
    Hub page([](const Hub&, const HubAsked&) -> std::optional<QByteArray> {
      return hubAnswer("200 OK", lengthLine(6), "<html>");
    });
    std::string found = page.problemOf({kHubWeights});
    QVERIFY2(says(found, "<hub-answer-form>"), found.c_str());
    Hub breaking([](const Hub& served, const HubAsked& asked) -> std::optional<QByteArray> {
      if (!asked.isFile()) return std::nullopt;
      return served.fileAnswer(asked, kHubWeights).left(asked.from() == 0 ? 20'000 : 0) + "HTTP/1.1 ";
    });
    found = breaking.problemOf({kHubWeights});
    QVERIFY2(says(found, "<hub-rest-of-file>"), found.c_str());
    QVERIFY(fs::exists(breaking.unfinished(kHubWeights)));
  }

  void withoutANetworkTheErrorSaysSo() {
    Hub hub;
    hub.place().endpoint = "http://127.0.0.1:" + std::to_string(remote::test::closedPort());
    const std::string found = hub.problemOf({kHubWeights});
    QVERIFY2(says(found, "<hub-answer>"), found.c_str());
  }

  void modelsAreFoundAmongFiles() {
    constexpr std::uint64_t kGiga = 1'000'000'000;
    HubListing listing{.repository = kHubRepository, .revision = "main", .commit = kHubCommit, .files = {}};
    for (const auto& [name, bytes] :
         std::map<std::string, std::uint64_t>{{"README.md", 1},
                                              {"config.json", 10},
                                              {"tokenizer.json", 10},
                                              {"mmproj-F16.gguf", kGiga},
                                              {"imatrix.gguf", 5},
                                              {"consolidated.safetensors", 16 * kGiga},
                                              {"model-00001-of-00002.safetensors", 8 * kGiga},
                                              {"model-00002-of-00002.safetensors", 8 * kGiga},
                                              {"model.safetensors.index.json", 10},
                                              {"m-Q4_K_M.gguf", 5 * kGiga},
                                              {"m-Q8_0.gguf", 9 * kGiga},
                                              {"m-UD-Q4_K_M.gguf", 5 * kGiga + 1},
                                              {"BF16/m-BF16-00001-of-00002.gguf", 9 * kGiga},
                                              {"BF16/m-BF16-00002-of-00002.gguf", 7 * kGiga},
                                              {"q/m-Q2_K-00001-of-00002.gguf", kGiga}})
      listing.files.push_back({name, bytes});
    const std::vector<HubModel> models = remote::hubModels(listing);
    std::vector<std::string> names;
    for (const HubModel& model : models) names.push_back(model.name);
    QCOMPARE(names, (std::vector<std::string>{"", "m-Q4_K_M.gguf", "m-UD-Q4_K_M.gguf", "m-Q8_0.gguf",
                                              "BF16/m-BF16-00001-of-00002.gguf"}));
    QCOMPARE(models[0].files.size(), std::size_t{5});
    QCOMPARE(models[0].weightBytes, 16 * kGiga);
    QCOMPARE(models[4].files.size(), std::size_t{2});
    const auto chosen = [&](const std::string& file, std::uint64_t memory) {
      return remote::chosenModel(listing, file, memory).name;
    };
    QCOMPARE(chosen("", 0), std::string());
    QCOMPARE(chosen("", 20 * kGiga), std::string());
    QCOMPARE(chosen("", 12 * kGiga), std::string("m-UD-Q4_K_M.gguf"));
    QCOMPARE(chosen("", 2 * kGiga), std::string("m-Q4_K_M.gguf"));
    QCOMPARE(chosen("q8_0", 0), std::string("m-Q8_0.gguf"));
    QCOMPARE(chosen("Q4_K_M", 0), std::string("m-Q4_K_M.gguf"));
    QCOMPARE(chosen("bf16", 0), std::string("BF16/m-BF16-00001-of-00002.gguf"));
    QCOMPARE(chosen("README.md", 0), std::string("README.md"));
    const auto problemOf = [](const HubListing& all, const std::string& file) {
      try {
        remote::chosenModel(all, file, 0);
      } catch (const Failure& failure) {
        return std::string(failure.what());
      }
      return std::string();
    };
    QVERIFY(says(problemOf(listing, "Q5_K_M"), "<hub-no-such-file> \"Q5_K_M\""));
    listing.files.resize(1);
    QVERIFY(says(problemOf(listing, {}), "<hub-no-weights>"));
  }
};

SPANSCOPE_TEST(tst_hub, TestHub, QCoreApplication)
#include "tst_hub.moc"
