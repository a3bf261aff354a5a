// SPDX-License-Identifier: GPL-3.0-or-later
// Conversations with retrieval as others published them: read, refused, found.
#include "engine/base/error.h"
#include "engine/experiment/conversations.h"
#include "engine/experiment/gzip_text.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace spanscope;
using spanscope::product_text::says;
using spanscope::product_text::worded;
namespace fs = std::filesystem;

namespace {

constexpr const char* kDocuments = R"("documents": [{"document_id": "a", "text": "One."},
  {"document_id": "b", "text": "Two.", "title": "not read"}])";

std::string task(const std::string& name, const std::string& input, const std::string& contexts) {
  return R"({"task_id": ")" + name + R"(", "input": [)" + input + R"(], "contexts": [)" + contexts + "]}";
}

std::string user(const std::string& text) {
  return R"({"speaker": "user", "text": ")" + text + R"("})";
}

std::string agent(const std::string& text) {
  return R"({"speaker": "agent", "text": ")" + text + R"("})";
}

std::string context(const std::string& id) {
  return R"({"document_id": ")" + id + R"("})";
}

std::string fileOf(const std::string& tasks) {
  return "{" + std::string(kDocuments) + R"(, "tasks": [)" + tasks + "]}";
}

std::string packed(std::string text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

template <class Do>
std::string failureOf(const Do& run) {
  try {
    run();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

class TestConversations : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;

  fs::path write(const std::string& name, const std::string& bytes) const {
    const fs::path file = fs::path(m_folder.path().toStdString()) / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private Q_SLOTS:
  void turnsStandInTheirOrder() {
    const std::string text =
        fileOf(task("x<::>2", user("Who?") + "," + agent("She.") + "," + user("Where?"), context("b")) + "," +
               task("y<::>1", user("Why?"), "") + "," +
               task("x<::>1", user("Who?"), context("b") + "," + context("a")));
    for (const fs::path& file : {write("plain.json", text), write("packed.json.gz", packed(text))}) {
      const auto read = experiment::readConversations(file);
      QCOMPARE(read.passages.size(), std::size_t{2});
      QCOMPARE(read.passages[1].text, std::string("Two."));
      QCOMPARE(read.conversations.size(), std::size_t{2});
      const experiment::Conversation& first = read.conversations.front();
      QCOMPARE(first.id, std::string("x"));
      QCOMPARE(first.turns.size(), std::size_t{2});
      QCOMPARE(first.turns[0].passages, (std::vector<std::size_t>{1, 0}));
      QCOMPARE(first.turns[1].said.size(), std::size_t{3});
      QVERIFY(!first.turns[1].said[1].byUser);
      QCOMPARE(first.turns[1].said[2].text, std::string("Where?"));
      QVERIFY(read.conversations[1].turns[0].passages.empty());
    }
  }

  void whatIsNoneIsRefused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("place");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const std::string& text, const char* place, const char* words) {
      QTest::newRow(name) << QString::fromStdString(text) << place << worded(words);
    };
    row("no object", "[]", "1:1", "object");
    row("cut short", R"({"documents": [)", "1:", "");
    row("no documents", R"({"tasks": []})", "/documents", "list");
    row("no tasks", fileOf(""), "/tasks", "at least one");
    row("a passage twice",
        R"({"documents": [{"document_id": "a", "text": ""}, {"document_id": "a", "text": ""}]})",
        "/documents/1/document_id", "twice");
    row("an unknown passage", fileOf(task("x<::>1", user("?"), context("c"))),
        "/tasks/0/contexts/0/document_id", "passage in /documents");
    row("no turn", fileOf(task("x", user("?"), "")), "/tasks/0/task_id", "<conversation-number-turn>");
    row("turn 0", fileOf(task("x<::>0", user("?"), "")), "/tasks/0/task_id", "<conversation-number-turn>");
    row("a turn twice", fileOf(task("x<::>1", user("?"), "") + "," + task("x<::>1", user("?"), "")),
        "/tasks/1/task_id", "twice");
    row("an answer last", fileOf(task("x<::>1", user("?") + "," + agent("!"), "")), "/tasks/0/input",
        "<question-end>");
    row("nothing said", fileOf(task("x<::>1", "", "")), "/tasks/0/input", "<question-end>");
    row("somebody else", fileOf(task("x<::>1", R"({"speaker": "dog", "text": ""})", "")),
        "/tasks/0/input/0/speaker", "agent");
    row("a number for a text", fileOf(task("x<::>1", R"({"speaker": "user", "text": 7})", "")),
        "/tasks/0/input/0/text", "7");
  }

  void whatIsNoneIsRefused() {
    QFETCH(QString, text);
    QFETCH(QString, place);
    QFETCH(QString, words);
    const fs::path file = write("wrong.json", text.toStdString());
    const QString said = QString::fromStdString(failureOf([&] { experiment::readConversations(file); }));
    QVERIFY2(said.contains(place), qPrintable(said));
    QVERIFY2(said.contains(words), qPrintable(said));
    QVERIFY2(said.contains(QStringLiteral("wrong.json")), qPrintable(said));
  }

  void whatIsPackedIsBounded() {
    const std::string text(100'000, 'a');
    const std::string bytes = packed(text);
    QCOMPARE(experiment::unpacked(bytes, "f", text.size()), text);
    QVERIFY(experiment::unpacked(bytes + bytes, "f", 2 * text.size()) == text + text);
    QCOMPARE(experiment::unpacked("plain", "f", 1), std::string("plain"));
    const auto refused = [&](const std::string& given, std::size_t limit) {
      return failureOf([&] { experiment::unpacked(given, "f", limit); });
    };
    QVERIFY(refused(bytes, text.size() - 1).find("bytes unpacked") != std::string::npos);
    std::string damaged = bytes;
    damaged[bytes.size() - 5] = static_cast<char>(damaged[bytes.size() - 5] ^ 0x55);  // of the checksum
    QVERIFY(!refused(damaged, text.size()).empty());
    QVERIFY(!refused(bytes + "more", text.size()).empty());
    for (std::size_t size = 2; size < bytes.size(); ++size)
      QVERIFY2(!refused(bytes.substr(0, size), text.size()).empty(), std::to_string(size).c_str());
  }

  void isFound() {
    const fs::path base = fs::path(m_folder.path().toStdString()) / "published";
    fs::create_directories(base / "mtrag");
    const std::vector<fs::path> published{"/no/such/folder", base};
    const auto missing = [&](const fs::path& asked) {
      return failureOf([&] { experiment::findConversations(asked, published); });
    };
    const std::string nowhere = missing({});
    QVERIFY2(nowhere.find("/no/such/folder/mtrag") != std::string::npos, nowhere.c_str());
    QVERIFY2(nowhere.find((base / "mtrag").string()) != std::string::npos, nowhere.c_str());
    QVERIFY2(nowhere.find("MTRAG") != std::string::npos, nowhere.c_str());
    QVERIFY(missing(base).find("without a file") != std::string::npos);
    QVERIFY(says(missing("/no/such/file"), "<no-such-file>"));
    std::ofstream(base / "mtrag" / "b.json") << "{}";
    std::ofstream(base / "mtrag" / "a.json.gz") << "{}";
    std::ofstream(base / "mtrag" / "README.md") << "read me";
    QCOMPARE(experiment::findConversations({}, published), base / "mtrag" / "a.json.gz");
    QCOMPARE(experiment::findConversations(base / "mtrag", {}), base / "mtrag" / "a.json.gz");
    QCOMPARE(experiment::findConversations(base / "mtrag" / "b.json", {}), base / "mtrag" / "b.json");
  }

  /// As they were published.
  void thoseOfMtrag() {
    const std::vector<fs::path> published{SPANSCOPE_GOLDEN_DIR};
    if (!fs::is_directory(published.front() / "mtrag")) QSKIP("no mtrag in the folder of published data");
    const auto read = experiment::readConversations(experiment::findConversations({}, published));
    QCOMPARE(read.conversations.size(), std::size_t{20});
    QCOMPARE(read.passages.size(), std::size_t{350});
    std::size_t turns = 0;
    for (const experiment::Conversation& conversation : read.conversations) {
      for (std::size_t i = 0; i < conversation.turns.size(); ++i) {
        QCOMPARE(conversation.turns[i].said.size(), 2 * i + 1);
        ++turns;
      }
    }
    QCOMPARE(turns, std::size_t{159});
  }
};

SPANSCOPE_TEST(tst_conversations, TestConversations)
#include "tst_conversations.moc"
