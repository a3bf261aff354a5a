// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/text/chat_template.h"
#include "engine/text/chat_template_table.h"
#include "tests/engine/text/text_test_support.h"

#include <QTest>

#include <sentencepiece_processor.h>

#include <optional>

using namespace spanscope;
using namespace spanscope::text;
using namespace spanscope::text::test;

namespace {

struct Turn {
  query::Role role;
  std::string text;
};

std::optional<Error> findError(const std::filesystem::path& directory) {
  try {
    findChatTemplate(directory);
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

std::vector<TokenId> slice(const RenderedMessage& message) {
  const auto begin = message.ids.begin() + message.textBegin;
  return {begin, begin + message.textCount};
}

}  // namespace

class TestChatTemplate : public QObject {
  Q_OBJECT

 private slots:
  void bundled();
  void rendersAMessage();
  void tellsTextFromTemplate_data();
  void tellsTextFromTemplate();
  void joinedMessagesAreTheConversation();
  void unknownTemplates_data();
  void unknownTemplates();
  void templateFiles();
  void needsItsMarkers();
};

void TestChatTemplate::bundled() {
  const ChatTemplate& chat = findChatTemplate(bundledModel());
  QCOMPARE(chat.name, std::string("spanlet"));
  const auto tokenizer = loadTokenizer(bundledModel());
  QCOMPARE(renderPieces(chat.generationPrompt, *tokenizer), std::vector<TokenId>{6});
  QCOMPARE(renderPieces(chat.replySuffix, *tokenizer), std::vector<TokenId>{7});
  QCOMPARE(chat.replyLeading, std::string(" "));
}

void TestChatTemplate::rendersAMessage() {
  const ChatTemplate& chat = findChatTemplate(bundledModel());
  const auto tokenizer = loadTokenizer(bundledModel());
  const RenderedMessage message = render(chat, *tokenizer, query::Role::User, "Where does Mira live?");
  const std::vector<TokenId> text = tokenizer->encode(" Where does Mira live?");
  std::vector<TokenId> expected = {5};
  expected.insert(expected.end(), text.begin(), text.end());
  expected.push_back(7);
  QCOMPARE(message.ids, expected);
  QCOMPARE(message.textBegin, 1);
  QCOMPARE(slice(message), text);
}

void TestChatTemplate::tellsTextFromTemplate_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("own");
  QTest::newRow("joined with the space") << QByteArray("Mira") << QByteArray(" Mira");
  QTest::newRow("empty") << QByteArray("") << QByteArray("");
  QTest::newRow("begins with a line") << QByteArray("\nMira") << QByteArray("\nMira");
  QTest::newRow("a marker") << QByteArray("<|end|>") << QByteArray("<|end|>");
}

void TestChatTemplate::tellsTextFromTemplate() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, own);
  const ChatTemplate& chat = findChatTemplate(bundledModel());
  const auto tokenizer = loadTokenizer(bundledModel());
  const RenderedMessage message = render(chat, *tokenizer, query::Role::System, text.toStdString());
  const std::string decoded = tokenizer->decode(slice(message));
  // A first token that holds the template's space too is text.
  QVERIFY2(decoded == own.toStdString() || decoded == " " + own.toStdString(), decoded.c_str());
  QVERIFY(message.textBegin >= 1);
  QCOMPARE(message.ids.front(), 4);
  QCOMPARE(message.ids.back(), 7);
}

void TestChatTemplate::joinedMessagesAreTheConversation() {
  const ChatTemplate& chat = findChatTemplate(bundledModel());
  const auto tokenizer = loadTokenizer(bundledModel());
  sentencepiece::SentencePieceProcessor library;
  QVERIFY(library.Load((bundledModel() / "tokenizer.model").string()).ok());
  std::mt19937_64 random(testSeed());
  const std::vector<std::string> words = {"Mira",     " lives", "\n", "  ",   "in Lisbon.", "😀",
                                          "\"Tom\",", "[",      "42", "日本", "é",          ""};
  for (int round = 0; round < 500; ++round) {
    // What the checkpoint's template says, as text in which the library itself finds the markers.
    std::string conversation;
    std::vector<TokenId> joined;
    const std::size_t turns = random() % 6;
    for (std::size_t i = 0; i < turns; ++i) {
      Turn turn{static_cast<query::Role>(random() % 3), ""};
      for (std::size_t word = random() % 8; word > 0; --word) turn.text += words[random() % words.size()];
      conversation += std::string("<|") + query::roleName(turn.role) + "|> " + turn.text + "<|end|>";
      const RenderedMessage message = render(chat, *tokenizer, turn.role, turn.text);
      joined.insert(joined.end(), message.ids.begin(), message.ids.end());
    }
    conversation += "<|assistant|>";
    const std::vector<TokenId> prompt = renderPieces(chat.generationPrompt, *tokenizer);
    joined.insert(joined.end(), prompt.begin(), prompt.end());
    QCOMPARE(joined, library.EncodeAsIds(conversation));
  }
}

void TestChatTemplate::unknownTemplates_data() {
  QTest::addColumn<QByteArray>("config");
  QTest::addColumn<QString>("found");
  QTest::newRow("another template") << QByteArray(R"({"chat_template": "{{ messages }}"})")
                                    << "{{ messages }}";
  QTest::newRow("no template") << QByteArray("{}") << "nothing";
  QTest::newRow("null") << QByteArray(R"({"chat_template": null})") << "nothing";
  QTest::newRow("a number") << QByteArray(R"({"chat_template": 3})") << "number";
  QTest::newRow("a list without a default")
      << QByteArray(R"({"chat_template": [{"name": "rag", "template": "x"}, 3]})") << "array";
  QTest::newRow("no JSON") << QByteArray("chat") << "no JSON object";
  QTest::newRow("empty") << QByteArray("") << "no JSON object";
  QTest::newRow("deep") << QByteArray(100000, '[') << "no JSON object";
}

void TestChatTemplate::unknownTemplates() {
  QFETCH(QByteArray, config);
  QFETCH(QString, found);
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  writeFile(directory / "tokenizer_config.json", config.toStdString());
  const std::optional<Error> error = findError(directory);
  QVERIFY(error.has_value());
  QCOMPARE(error->file, (directory / "tokenizer_config.json").string());
  QVERIFY2(QString::fromStdString(error->found).contains(found), error->message().c_str());
  if (found.contains("messages")) QVERIFY(QString::fromStdString(error->expected).contains("spanlet"));
}

void TestChatTemplate::templateFiles() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  QCOMPARE(findError(directory)->found, std::string("no such file"));
  const std::string source(knownChatTemplates().front().source);
  writeFile(directory / "chat_template.jinja", source);
  QCOMPARE(findChatTemplate(directory).name, std::string("spanlet"));
  std::filesystem::remove(directory / "chat_template.jinja");
  writeFile(directory / "tokenizer_config.json",
            R"({"chat_template": [{"name": "tools", "template": "x"}, {"name": "default", "template": ")" +
                source + "\"}]}");
  QCOMPARE(findChatTemplate(directory).name, std::string("spanlet"));
}

void TestChatTemplate::needsItsMarkers() {
  const auto tokenizer = loadTokenizer(bundledModel());
  try {
    renderPieces({{true, "<|tool|>"}}, *tokenizer);
    QFAIL("a marker that the tokenizer does not have was rendered");
  } catch (const Failure& failure) {
    QVERIFY(QString::fromStdString(failure.error().found).contains("<|tool|>"));
  }
}

QTEST_APPLESS_MAIN(TestChatTemplate)
#include "tst_chat_template.moc"
