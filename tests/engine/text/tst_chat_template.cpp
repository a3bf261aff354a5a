// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/text/chat_template.h"
#include "engine/text/chat_template_table.h"
#include "engine/text/conversation.h"
#include "engine/text/template_process.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

using namespace spanscope;
using namespace spanscope::text;
using namespace spanscope::text::test;
using spanscope::product_text::worded;

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

/// The text of the bundled checkpoint's template.
std::string bundledSource() {
  return nlohmann::json::parse(readFile(bundledModel() / "tokenizer_config.json"))["chat_template"]
      .get<std::string>();
}

query::Role roleNamed(const std::string& name) {
  for (const query::Role role : {query::Role::System, query::Role::User}) {
    if (name == query::roleName(role)) return role;
  }
  return query::Role::Assistant;
}

bool hasTurn(const ChatTemplate& chat, query::Role role) {
  return chat.turns[static_cast<std::size_t>(role)].has_value();
}

/// A conversation as spans write it, each message on its own.
std::string spellConversation(const ChatTemplate& chat, const std::vector<Turn>& turns) {
  std::string text = spellOpening(chat, !turns.empty() && turns.front().role == query::Role::System);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    text += spellMessage(chat, turns[i].role, turns[i].text, i == 0 ? Place::First : Place::Later);
  }
  return text + spell(chat.generationPrompt);
}

std::vector<TokenId> renderConversation(const ChatTemplate& chat, const Tokenizer& tokenizer,
                                        const std::vector<Turn>& turns) {
  std::vector<TokenId> ids =
      renderOpening(chat, tokenizer, !turns.empty() && turns.front().role == query::Role::System);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const RenderedMessage message =
        render(chat, tokenizer, turns[i].role, turns[i].text, i == 0 ? Place::First : Place::Later);
    ids.insert(ids.end(), message.ids.begin(), message.ids.end());
  }
  const std::vector<TokenId> prompt = renderPieces(chat.generationPrompt, tokenizer);
  ids.insert(ids.end(), prompt.begin(), prompt.end());
  return ids;
}

/// Every list of pieces of a template.
std::vector<std::vector<TemplatePiece>> piecesOf(const ChatTemplate& chat) {
  std::vector<std::vector<TemplatePiece>> all = {chat.opening, chat.generationPrompt, chat.answerSuffix};
  for (const auto& turn : chat.turns) {
    if (turn) all.insert(all.end(), {turn->prefix, turn->suffix});
  }
  return all;
}

/// Whether no text of one message can touch the text of the next: then ids do not depend on what is encoded
/// together.
bool isDelimited(const ChatTemplate& chat) {
  const auto begins = [](const std::vector<TemplatePiece>& pieces) {
    return !pieces.empty() && pieces.front().control;
  };
  return begins(chat.generationPrompt) &&
         std::all_of(chat.turns.begin(), chat.turns.end(),
                     [&](const auto& turn) { return !turn || begins(turn->prefix); });
}

/// A byte-level tokenizer that has the control pieces of every template.
std::unique_ptr<Tokenizer> tokenizerWithEveryMarker(const QTemporaryDir& folder) {
  const std::filesystem::path directory = folder.path().toStdString();
  nlohmann::json json = nlohmann::json::parse(
      readFile(std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "tokenizers" / "llama3" / "tokenizer.json"));
  std::set<std::string> markers;
  for (const KnownChatTemplate& known : knownChatTemplates()) {
    const std::vector<std::string> pieces = controlPieces(known.chat);
    markers.insert(pieces.begin(), pieces.end());
  }
  markers.erase("<|user|>");  // The case has it.
  markers.erase("<|end|>");
  int id = 1000;
  for (const std::string& marker : markers) {
    json["added_tokens"].push_back({{"id", id++}, {"content", marker}, {"special", true}});
  }
  writeFile(directory / "tokenizer.json", json.dump());
  return loadTokenizer(directory);
}

/// A whole text in which the control pieces are found as markers, the rest encoded between them.
std::vector<TokenId> encodeWhole(const Tokenizer& tokenizer, const std::set<std::string>& markers,
                                 std::string_view text) {
  std::vector<TokenId> ids;
  std::size_t begin = 0;
  const auto flush = [&](std::size_t end) {
    const std::vector<TokenId> more = tokenizer.encode(text.substr(begin, end - begin));
    ids.insert(ids.end(), more.begin(), more.end());
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto found = std::find_if(markers.begin(), markers.end(), [&](const std::string& marker) {
      return text.substr(i, marker.size()) == marker;
    });
    if (found == markers.end()) {
      ++i;
      continue;
    }
    flush(i);
    ids.push_back(tokenizer.controlId(*found));
    i += found->size();
    begin = i;
  }
  flush(text.size());
  return ids;
}

/// The text without the white space that the template's tokenizers drop after control pieces.
std::string withoutDroppedSpace(const ChatTemplate& chat, std::string text) {
  std::set<std::string> droppers;
  for (const auto& list : piecesOf(chat)) {
    for (const TemplatePiece& piece : list) {
      if (piece.dropsSpaceAfter) droppers.insert(piece.text);
    }
  }
  for (const std::string& dropper : droppers) {
    for (std::size_t at = text.find(dropper); at != std::string::npos; at = text.find(dropper, at + 1)) {
      const std::size_t begin = at + dropper.size();
      const std::size_t end = std::min(text.find_first_not_of(" \t\n", begin), text.size());
      text.erase(begin, end - begin);
    }
  }
  return text;
}

/// Phi-4's tokenizers drop white space at both sides of control pieces, which Jinja knows nothing of.
std::string withoutSpaceAtPieces(const ChatTemplate& chat, std::string text) {
  if (chat.name != "phi-4") return text;
  static const std::vector<std::string> kSpaces = {" ", "\t", "\n", "\x1f", "\u00a0", "\u2003"};
  for (bool isChanged = true; std::exchange(isChanged, false);) {
    for (const std::string& piece : controlPieces(chat)) {
      for (const std::string& space : kSpaces) {
        for (const std::string& pair : {piece + space, space + piece}) {
          for (std::size_t at = text.find(pair); at != std::string::npos; at = text.find(pair)) {
            text.replace(at, pair.size(), piece);
            isChanged = true;
          }
        }
      }
    }
  }
  return text;
}

std::vector<TokenId> slice(const RenderedMessage& message) {
  const auto begin = message.ids.begin() + message.textBegin;
  return {begin, begin + message.textCount};
}

}  // namespace

class TestChatTemplate : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bundled();
  void rendersAMessage();
  void tellsTextFromTemplate_data();
  void tellsTextFromTemplate();
  void joinedMessagesAreTheConversation();
  void unknownTemplates_data();
  void unknownTemplates();
  void errorsHaveLineAndColumn_data();
  void errorsHaveLineAndColumn();
  void missingDirectories();
  void templateFiles();
  void toolsHaveTheirOwnTemplate();
  void needsItsMarkers();
  void asJinjaRenders();
  void joinedSpansAreTheWhole_data();
  void joinedSpansAreTheWhole();
  void markers_data();
  void wholeFiles_data();
  void wholeFiles();
  void markers();
  void whiteSpaceOfSpnl();
  void names();
  void ofGguf();
};

void TestChatTemplate::bundled() {
  const ChatTemplate& chat = findChatTemplate(bundledModel());
  QCOMPARE(chat.name, std::string("spanlet"));
  const auto tokenizer = loadTokenizer(bundledModel());
  QCOMPARE(renderPieces(chat.generationPrompt, *tokenizer), std::vector<TokenId>{6});
  QCOMPARE(renderPieces(chat.answerSuffix, *tokenizer), std::vector<TokenId>{7});
  QCOMPARE(chat.answerLeading, std::string(" "));
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
  QTest::newRow("another template") << QByteArray(R"({"chat_template": "{{ 'messages' }}"})")
                                    << "{{ 'messages' }}";
  QTest::newRow("no template") << QByteArray("{}") << "nothing";
  QTest::newRow("null") << QByteArray(R"({"chat_template": null})") << "nothing";
  QTest::newRow("a number") << QByteArray(R"({"chat_template": 3})") << "number";
  QTest::newRow("a list without a default")
      << QByteArray(R"({"chat_template": [{"name": "rag", "template": "x"}, 3]})") << "array";
  QTest::newRow("no JSON") << QByteArray("chat") << "\"chat\"";
  QTest::newRow("empty") << QByteArray("") << "the end";
  QTest::newRow("deep") << QByteArray(100000, '[') << "container";
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

void TestChatTemplate::errorsHaveLineAndColumn_data() {
  QTest::addColumn<QByteArray>("config");
  QTest::addColumn<QString>("place");
  QTest::newRow("unknown") << QByteArray("{\n  \"chat_template\": \"x\"}") << "2:20: /chat_template";
  QTest::newRow("missing") << QByteArray("\n{}") << "2:1: /chat_template";
  QTest::newRow("unknown in a list")
      << QByteArray("{\"chat_template\": [{\"name\": \"default\",\n\"template\": \"x\"}]}")
      << "2:13: /chat_template/0/template";
  QTest::newRow("another type in a list")
      << QByteArray("{\"chat_template\": [{\"name\": \"default\",\n\"template\": 3}]}")
      << "2:13: /chat_template/0/template";
  QTest::newRow("syntax") << QByteArray("{\n\"chat_template\": 'x'}") << "2:18";
}

void TestChatTemplate::errorsHaveLineAndColumn() {
  QFETCH(QByteArray, config);
  QFETCH(QString, place);
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  writeFile(directory / "tokenizer_config.json", config.toStdString());
  const std::optional<Error> error = findError(directory);
  QVERIFY(error.has_value());
  QCOMPARE(error->file, (directory / "tokenizer_config.json").string());
  QCOMPARE(QString::fromStdString(error->place), place);
}

void TestChatTemplate::missingDirectories() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  const std::optional<Error> missing = findError(directory / "nowhere");
  QVERIFY(missing.has_value());
  QCOMPARE(missing->file, (directory / "nowhere").string());
  QCOMPARE(missing->found, worded(std::string("<nothing-at-path>")));
  writeFile(directory / "file", "x");
  QCOMPARE(findError(directory / "file")->found, worded(std::string("<file-another-kind>")));
  writeFile(directory / "model.gguf", "GGUF");
  const std::optional<Error> gguf = findError(directory / "model.gguf");
  QVERIFY(gguf.has_value());
  QCOMPARE(gguf->file, (directory / "model.gguf").string());
  QVERIFY2(gguf->found.find("the end") == 0, gguf->message().c_str());
}

void TestChatTemplate::templateFiles() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  QCOMPARE(findError(directory)->found, std::string("no such file"));
  const std::string source = bundledSource();
  writeFile(directory / "chat_template.jinja", source);
  QCOMPARE(findChatTemplate(directory).name, std::string("spanlet"));
  std::filesystem::remove(directory / "chat_template.jinja");
  writeFile(directory / "tokenizer_config.json",
            R"({"chat_template": [{"name": "tools", "template": "x"}, {"name": "default", "template": ")" +
                source + "\"}]}");
  QCOMPARE(findChatTemplate(directory).name, std::string("spanlet"));
  // Checkpoints that also read images have a file with the template alone, as a text or as a list.
  writeFile(directory / "tokenizer_config.json", "{}");
  for (const std::string& value : {'"' + source + '"', R"([{"name": "default", "template": ")" + source +
                                                           R"("}, {"name": "tool_use", "template": "x"}])"}) {
    writeFile(directory / "chat_template.json", R"({"chat_template": )" + value + '}');
    QCOMPARE(findChatTemplate(directory).name, std::string("spanlet"));
    QCOMPARE(templateSource(directory).file, (directory / "chat_template.json").string());
  }
}

/// With tools, the template "tool_use" of a list renders the prompt.
void TestChatTemplate::toolsHaveTheirOwnTemplate() {
  if (sharedTemplateProcess().isMissing()) QSKIP("Python's Jinja is not installed");
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  const auto templateWith = [](const char* mark) {
    return std::string("{% for m in messages %}") + mark +
           "{{ m['content'] }}{% endfor %}{% if add_generation_prompt %}!{% endif %}";
  };
  writeFile(directory / "tokenizer_config.json",
            R"({"chat_template": [{"name": "default", "template": ")" + templateWith("D") +
                R"("}, {"name": "tool_use", "template": ")" + templateWith("T") + R"("}]})");
  const auto opening = [&](const std::string& variables) {
    const std::vector<ConversationMessage> messages{{query::Role::User, "hello"}};
    return spellConversation(programTemplate(directory, variables), messages).front();
  };
  QCOMPARE(opening(R"({"other": 1})"), 'D');
  QCOMPARE(opening(R"({"tools": []})"), 'D');
  QCOMPARE(opening(R"({"tools": [{"type": "function"}]})"), 'T');
}

void TestChatTemplate::needsItsMarkers() {
  const auto tokenizer = loadTokenizer(bundledModel());
  try {
    renderPieces({{true, "<|tool|>"}}, *tokenizer);
    QFAIL("an unknown marker was rendered");
  } catch (const Failure& failure) {
    QVERIFY(QString::fromStdString(failure.error().found).contains("<|tool|>"));
    QCOMPARE(failure.error().file, (bundledModel() / "tokenizer.model").string());
  }
}

void TestChatTemplate::asJinjaRenders() {
  std::istringstream lines(readFile(std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "chats.jsonl"));
  std::string line;
  std::set<std::string> seen;
  while (std::getline(lines, line)) {
    const nlohmann::json row = nlohmann::json::parse(line);
    const ChatTemplate& chat = chatTemplateNamed(row["name"].get<std::string>());
    std::vector<Turn> turns;
    for (const auto& message : row["messages"]) {
      turns.push_back({roleNamed(message[0].get<std::string>()), message[1].get<std::string>()});
    }
    // Some templates write the system into a message of the user; a span cannot.
    const auto isWritable = [&](const Turn& turn) {
      const bool opens = turn.role == query::Role::System && &turn == turns.data();
      return hasTurn(chat, turn.role) || (opens && chat.openingSystem);
    };
    const bool writable = std::all_of(turns.begin(), turns.end(), isWritable);
    if (!writable) continue;
    const std::string found = spellConversation(chat, turns);
    QVERIFY2(found == withoutSpaceAtPieces(chat, row["text"].get<std::string>()),
             (line + "\nfound " + found).c_str());
    seen.insert(chat.name);
    seen.insert(row["fingerprint"].get<std::string>());
  }
  for (const KnownChatTemplate& known : knownChatTemplates()) {
    const std::string& name = known.chat.name;
    QVERIFY2(seen.contains(name), name.c_str());
    for (const std::uint64_t fingerprint : known.fingerprints) {
      QVERIFY2(seen.contains(QString::number(fingerprint, 16).rightJustified(16, '0').toStdString()),
               name.c_str());
    }
  }
}

void TestChatTemplate::joinedSpansAreTheWhole_data() {
  QTest::addColumn<QString>("name");
  for (const KnownChatTemplate& known : knownChatTemplates()) {
    QTest::newRow(known.chat.name.c_str()) << QString::fromStdString(known.chat.name);
  }
}

void TestChatTemplate::joinedSpansAreTheWhole() {
  QFETCH(QString, name);
  const ChatTemplate& chat = chatTemplateNamed(name.toStdString());
  const QTemporaryDir folder;
  const auto tokenizer = tokenizerWithEveryMarker(folder);
  const std::vector<std::string> pieces = controlPieces(chat);
  const std::set<std::string> markers(pieces.begin(), pieces.end());
  std::mt19937_64 random(testSeed());
  static const std::vector<std::string> kWords = {
      "Mira", " lives", "\n", "  ", "in Lisbon.", "😀", "\"Tom\",", "[", "42", "日本", "é", "", "\t", "'s"};
  for (int round = 0; round < 200; ++round) {
    std::vector<Turn> turns;
    for (std::size_t count = random() % 5; turns.size() < count;) {
      Turn turn{static_cast<query::Role>(random() % 3), ""};
      if (!hasTurn(chat, turn.role)) continue;
      for (std::size_t word = random() % 8; word > 0; --word) turn.text += kWords[random() % kWords.size()];
      turns.push_back(std::move(turn));
    }
    const std::string whole = withoutDroppedSpace(chat, spellConversation(chat, turns));
    const std::vector<TokenId> joined = renderConversation(chat, *tokenizer, turns);
    // Where text can touch text, ids are those of the spans by definition, but the text is the same.
    std::string spelled;
    for (const TokenId id : joined) {
      spelled += tokenizer->isControl(id) ? tokenizer->display(id) : tokenizer->bytes(id);
    }
    QCOMPARE(spelled, whole);
    if (isDelimited(chat)) QCOMPARE(joined, encodeWhole(*tokenizer, markers, whole));
  }
}

void TestChatTemplate::markers_data() {
  QTest::addColumn<QByteArray>("source");
  QTest::addColumn<QString>("name");
  const auto row = [](const char* title, const char* source, const char* name) {
    QTest::newRow(title) << QByteArray(source) << QString(name);
  };
  const std::string turn =
      "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' }}";
  const auto chatMl = [&](const char* title, const std::string& more, const char* name) {
    row(title, (turn + more).c_str(), name);
  };
  chatMl("chatml", "", "chatml");
  row("chatml in another style", "{{- \"<|im_start|>\"+message.role+\"\n\"+message.content+\"<|im_end|>\" }}",
      "chatml");
  row("other words between the markers", "{{ '<|im_start|>' + x + '<|im_end|>' }}", "");
  row("lines between tags", (" {{ x }}\n\n" + turn).c_str(), "");
  row("lines that the tags remove", ("{% if x -%}\n  \n" + turn + "\n {%- endif %}\n").c_str(), "chatml");
  chatMl("a beginning", "{{ bos_token }}", "");
  chatMl("another separator", "{{ '<|im_sep|>' }}", "");
  chatMl("an unknown system message", "{% if messages[0].role != 'system' %}You are Z{% endif %}", "");
  row("qwen2.5",
      "<|im_start|><|im_end|> You are Qwen, created by Alibaba Cloud. You are a helpful assistant.",
      "qwen2.5");
  const std::string thinking =
      "{{ '<|im_start|>' + message.role + '\\n' + content }}{{ '<|im_start|>assistant\\n' }}"
      "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}";
  row("qwen3", (thinking + "{% endif %}").c_str(), "qwen3");
  row("qwen3.5", (thinking + "{% else %}{{ '<think>\\n' }}{% endif %}").c_str(), "");
  const std::string header =
      "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + "
      "'<|eot_id|>' }}";
  row("llama 3", header.c_str(), "llama-3");
  row("markers of llama 3", "<|start_header_id|> <|end_header_id|> <|eot_id|>", "");
  row("llama 3 with functions", ("{{ functions }}" + header).c_str(), "");
  row("llama 3.2",
      "<|start_header_id|> <|end_header_id|> <|eot_id|> Cutting Knowledge Date: December 2023 26 Jul 2024",
      "llama-3.1");
  row("llama 4", "<|header_start|> <|header_end|> <|eot|>", "");
  row("granite 3", "<|start_of_role|> <|end_of_role|> <|end_of_text|>", "granite-3");
  row("granite 4.1",
      "{% set ns = namespace(system_message='') %}{% if ns.system_message %}<|start_of_role|> "
      "<|end_of_role|> "
      "<|end_of_text|>{% endif %}",
      "granite-4.1");
  row("gemma 2",
      "{{ bos_token }}{% set role = 'model' %}{{ '<start_of_turn>' + role + '\\n' + message['content'] | "
      "trim + "
      "'<end_of_turn>\\n' }}",
      "gemma");
  row("markers of gemma", "{{ bos_token }} <start_of_turn> <end_of_turn>", "");
  row("tulu 3",
      "{{ '<|user|>\\n' + message['content'] + '\\n' }}{{ '<|system|>\\n' + message['content'] + '\\n' }}",
      "tulu-3");
  row("tulu 3 with reasoning",
      "{{ '<|user|>\n' + message['content'] + '\n' }}{{ '<|system|>\n' + message['content'] + '\n' }}<think>",
      "");
  row("llama 2",
      "{{ '[INST] ' + message['content'] + ' [/INST]' }}{{ message['content'] + eos_token }}<<SYS>>", "");
  row("nemo", "{{ \"[INST]\" + message[\"content\"] + \"[/INST]\" }}{{ message[\"content\"] + eos_token }}",
      "mistral-v3-tekken");
  row("mistral 0.3",
      "{{ \"[INST] \" + message[\"content\"] + \"[/INST]\" }}{{ \" \" + message[\"content\"]|trim + "
      "eos_token }}",
      "mistral-v3");
  const auto phi = [&](const char* title, const std::string& condition, const std::string& before,
                       const char* name) {
    std::string source = before + "{% if message['role'] == 'system'" + condition + " %}";
    for (const char* role : {"system", "user", "assistant"})
      source += std::string("{{'<|") + role + "|>\n' + message['content'] + '<|end|>\n'}}";
    row(title, (source + "{% endif %}").c_str(), name);
  };
  phi("phi 3", "", "", "phi-3");
  phi("phi 3.5", " and message['content']", "", "phi-3.5");
  phi("phi 3 with a beginning", "", "{{ bos_token }}", "");
  row("phi 4 mini",
      "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{{ '<|assistant|>' }}",
      "phi-4-mini");
  row("phi 4", "<|im_start|>user<|im_sep|> <|im_end|> <|im_start|>assistant<|im_sep|>", "phi-4");
  row("phi 4 with reasoning",
      "<|im_start|>system<|im_sep|>You are Phi<|im_start|>user<|im_sep|> <|im_end|> "
      "<|im_start|>assistant<|im_sep|>",
      "");
  row("smollm 3",
      "<|im_start|><|im_end|>## Custom Instructions\nReasoning Mode: {% if enable_thinking %}<think>{% endif "
      "%}",
      "smollm3");
  row("granite 4",
      "{{ '<|start_of_role|> <|end_of_role|> <|end_of_text|>' }}{{ 'You are a helpful assistant. Please "
      "ensure "
      "responses are professional, accurate, and safe.' }}",
      "granite-4");
  row("mistral small 3",
      "{% set default_system_message = '' %}{{ '[SYSTEM_PROMPT]' }}{{ '[INST]' + message['content'] + "
      "'[/INST]' }}",
      "mistral-v7-tekken");
  row("mistral small 3 with a system message",
      "{% set default_system_message = 'Be brief' %}{{ '[SYSTEM_PROMPT]' }}{{ '[INST]' + message['content'] "
      "+ "
      "'[/INST]' }}",
      "");
  row("nothing known", "{{ messages }}", "");
}

/// Whole templates as models carry them. One that only looks like a family's is not taken for it.
void TestChatTemplate::wholeFiles_data() {
  QTest::addColumn<QString>("name");
  const auto row = [](const char* file, const char* name) { QTest::newRow(file) << QString(name); };
  row("HuggingFaceH4__zephyr-7b-beta_(add_generation_prompt=true)", "zephyr");
  row("HuggingFaceH4__zephyr-7b-gemma-v0.1", "");
  row("Qwen-QwQ-32B", "");
  row("Qwen__Qwen1.5-72B-Chat", "");
  row("Qwen__Qwen2.5-7B-Instruct", "qwen2.5");
  row("Qwen__Qwen3-0.6B", "qwen3");
  row("Qwen__Qwen3.5-4B", "");
  row("chatml", "");
  row("cognitivecomputations__dolphin-2.5-mixtral-8x7b", "chatml");
  row("google-gemma-2-2b-it", "gemma");
  row("gemma-it", "");
  row("granite-3.0-instruct", "granite-3");
  row("ibm-granite-granite-3.3-2B-Instruct", "granite-3.3");
  row("llama-3-instruct", "");
  row("meetkai-functionary-medium-v3.1", "");
  row("meta-llama-Llama-3.1-8B-Instruct", "llama-3.1");
  row("meta-llama-Llama-3.2-3B-Instruct", "llama-3.1");
  row("meta-llama-Llama-3.3-70B-Instruct", "llama-3.1");
  row("meta-llama__Llama-3.2-11B-Vision-Instruct", "");
  row("microsoft-Phi-3.5-mini-instruct", "phi-3.5");
  row("mistralai-Mistral-Nemo-Instruct-2407", "mistral-v3-tekken");
  row("Mistral-Small-3.2-24B-Instruct-2506", "");
  row("openai-gpt-oss-120b", "");
  row("phi-3", "");
  row("zai-org__GLM-5.1", "");
}

void TestChatTemplate::wholeFiles() {
  QFETCH(QString, name);
  const std::filesystem::path folder = std::filesystem::path(SPANSCOPE_GOLDEN_DIR) / "../cases/templates";
  const std::filesystem::path path = folder / (std::string(QTest::currentDataTag()) + ".jinja");
  if (!std::filesystem::exists(path)) QSKIP("the real templates are not here");
  const std::optional<FoundChatTemplate> found = matchChatTemplate(readFile(path));
  QCOMPARE(found ? QString::fromStdString(found->chat->name) : QString(), name);
}

void TestChatTemplate::markers() {
  QFETCH(QByteArray, source);
  QFETCH(QString, name);
  const std::optional<FoundChatTemplate> found = matchChatTemplate(source.toStdString());
  QCOMPARE(found.has_value(), !name.isEmpty());
  if (!found) return;
  QCOMPARE(QString::fromStdString(found->chat->name), name);
  QVERIFY(found->match == TemplateMatch::Markers);
}

/// SPNL trims what Unicode calls white space. Python, and so Jinja, removes four control characters too.
void TestChatTemplate::whiteSpaceOfSpnl() {
  const std::string text = "\u3000\x1f a \x1c\u00a0";
  const auto spelled = [&text](const char* name) {
    return spellMessage(chatTemplateNamed(name), query::Role::User, text, Place::Later);
  };
  QVERIFY(spelled("spnl-llama-3").find("\n\n\x1f a \x1c<|eot_id|>") != std::string::npos);
  QVERIFY(spelled("llama-3").find("\n\na<|eot_id|>") != std::string::npos);
}

void TestChatTemplate::names() {
  QCOMPARE(chatTemplateNamed("llama-3").name, std::string("llama-3"));
  QVERIFY(matchChatTemplate(bundledSource())->match == TemplateMatch::Fingerprint);
  QCOMPARE(templateFingerprint(" a\\nb\n"), templateFingerprint("a\nb"));
  try {
    chatTemplateNamed("chat-ml");
    QFAIL("a name that no template has was found");
  } catch (const Failure& failure) {
    QVERIFY(failure.error().expected.find("chatml") != std::string::npos);
  }
  try {
    spellMessage(chatTemplateNamed("gemma"), query::Role::System, "x");
    QFAIL("a turn that the family does not have was written");
  } catch (const Failure& failure) {
    QVERIFY(failure.error().found.find("system") != std::string::npos);
  }
}

void TestChatTemplate::ofGguf() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  GgufWriter file;
  writeFile(directory / "model.gguf", file.bytes());
  QCOMPARE(findError(directory)->place, std::string("tokenizer.chat_template"));
  file.text("tokenizer.chat_template", bundledSource());
  writeFile(directory / "model.gguf", file.bytes());
  QCOMPARE(findChatTemplate(directory).name, std::string("spanlet"));
}

SPANSCOPE_TEST(tst_chat_template, TestChatTemplate)
#include "tst_chat_template.moc"
