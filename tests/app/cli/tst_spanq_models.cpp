// SPDX-License-Identifier: GPL-3.0-or-later
// Model directories as users give them: missing, of another kind, with files that disagree, damaged.
#include "engine/workbench/finder/recent_models.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using spanscope::product_text::says;
using test::spanq;
using test::SpanqResult;
using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

const fs::path kSpanlet = SPANSCOPE_SOURCE_DIR "/resources/models/spanlet";

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write(const fs::path& path, const std::string& bytes) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

bool contains(const std::string& text, const std::string& part) {
  return says(text, part);
}

/// Changes fields of a JSON file; null takes one away.
void patch(const fs::path& path, const Json& fields) {
  Json json = Json::parse(read(path));
  json.merge_patch(fields);
  write(path, json.dump());
}

/// Where in the file a tensor's data begin and end.
std::pair<std::size_t, std::size_t> extentOf(const std::string& bytes, const std::string& tensor) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const Json offsets = Json::parse(bytes.substr(8, length))[tensor]["data_offsets"];
  return {8 + length + offsets[0].get<std::size_t>(), 8 + length + offsets[1].get<std::size_t>()};
}

}  // namespace

class TestSpanqModels : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_model = fs::path(m_folder->path().toStdString()) / "model";
  }
  void modelsOfToolsAreListed();
  void namesThatAreNoUtf8HideNothing();
  void missingDirectories_data();
  void missingDirectories();
  void ggufFiles_data();
  void ggufFiles();
  void anUnknownTemplateIsChosen();
  void adaptersAreNamedAndCount();
  void endTokensAreNamed();
  void answersEndAtAnyEndToken_data();
  void answersEndAtAnyEndToken();
  void endTokensOutsideTheVocabulary_data();
  void endTokensOutsideTheVocabulary();
  void configsOfFewerLayers();
  void damagedWeights();
  void noNumberThatIsNoneIsWritten();

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  fs::path m_model;

  /// A copy of the bundled model.
  void copyModel() {
    fs::create_directory(m_model);
    for (const fs::directory_entry& entry : fs::directory_iterator(kSpanlet))
      fs::copy_file(entry.path(), m_model / entry.path().filename());
    patch(m_model / "config.json", Json::object());
  }

  static std::vector<std::string> run(const fs::path& model) {
    return {"run", "--json", "--model", model.string(), "-"};
  }
};

/// {"run", "explain --predict", …} with a model; the query is read from standard input.
static void addCommands() {
  QTest::addColumn<QStringList>("command");
  QTest::newRow("run") << QStringList{"run", "-", "--model"};
  QTest::newRow("run with a template") << QStringList{"run", "-", "--template", "spanlet", "--model"};
  QTest::newRow("explain --predict") << QStringList{"explain", "--predict", "-", "--model"};
  QTest::newRow("model show") << QStringList{"model", "show"};
  QTest::newRow("model logits") << QStringList{"model", "logits", "--ids", "5"};
  QTest::newRow("bench speed") << QStringList{"bench", "speed", "--model"};
}

static SpanqResult spanqWith(const QStringList& command, const fs::path& model) {
  std::vector<std::string> arguments;
  for (const QString& word : command) arguments.push_back(word.toStdString());
  arguments.push_back(model.string());
  return spanq(arguments, R"({"user": "Hello"})");
}

/// The folders of tools are found by their variables; what cannot run says why.
void TestSpanqModels::modelsOfToolsAreListed() {
  const fs::path home = m_folder->path().toStdString();
  std::map<const char*, QByteArray> before;
  for (const char* name :
       {"HOME", "HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "OLLAMA_MODELS", "LLAMA_CACHE"}) {
    before[name] = qgetenv(name);
    qunsetenv(name);
  }
  qputenv("HOME", QByteArray::fromStdString(home.string()));
  const fs::path snapshot = home / ".cache/huggingface/hub/models--org--small/snapshots/c";
  fs::create_directories(snapshot);
  for (const auto& file : fs::directory_iterator(kSpanlet))
    fs::create_symlink(file.path(), snapshot / file.path().filename());
  fs::create_directories(home / ".lmstudio/models/pub/hybrid");
  write(home / ".lmstudio/models/pub/hybrid/config.json",
        R"({"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next"})");

  const fs::path opened = home / "opened-here";
  fs::create_directory_symlink(kSpanlet, opened);
  workbench::RecentModels(home / "recent.json").note(opened);

  const SpanqResult table = spanq({"model", "list"});
  const SpanqResult recent =
      test::spanqWithRecentModels({"model", "list", "--json"}, (home / "recent.json").string());
  const SpanqResult small = spanq({"model", "list", "--json", "--blocks", "64"});
  const SpanqResult large = spanq({"model", "list", "--json", "--blocks", "128"});
  for (const auto& [name, value] : before) {
    if (value.isNull())
      qunsetenv(name);
    else
      qputenv(name, value);
  }
  QCOMPARE(table.code, 0);
  QCOMPARE(small.code, 0);
  std::map<std::string, Json> models;
  for (const Json& model : Json::parse(small.out)) models[model["name"].get<std::string>()] = model;
  QCOMPARE(models.size(), std::size_t{3});
  const Json first = Json::parse(recent.out).front();
  QCOMPARE(first["source"].get<std::string>(), std::string("recent"));
  QCOMPARE(first["path"].get<std::string>(), opened.string());
  const Json& own = models.at("org/small");
  QCOMPARE(own["source"].get<std::string>(), std::string("hugging_face"));
  QCOMPARE(own["path"].get<std::string>(), snapshot.string());
  QCOMPARE(own["architecture"].get<std::string>(), std::string("LlamaForCausalLM"));
  QCOMPARE(own["parameters"].get<int>(), 1443456);
  QCOMPARE(own["tensors_by_type"].begin().key(), std::string("BF16"));
  QCOMPARE(own["chat_template"].get<std::string>(), std::string("spanlet"));
  QCOMPARE(own["moves_spans"].get<bool>(), true);
  QVERIFY(own["problem"].is_null());
  QCOMPARE(models.at("spanlet")["source"].get<std::string>(), std::string("bundled"));
  const Json& hybrid = models.at("pub/hybrid");
  QVERIFY(contains(hybrid["problem"].get<std::string>(), "<some-layers>"));
  QVERIFY(hybrid["memory_bytes"].is_null() && hybrid["moves_spans"].is_null());
  for (const Json& model : Json::parse(large.out)) {
    if (model["name"] == "org/small") QVERIFY(model["memory_bytes"] > own["memory_bytes"]);
  }
  QCOMPARE(std::count(table.out.begin(), table.out.end(), '\n'), 4);  // one line each, and the titles
  QVERIFY2(contains(table.out, "org/small   Hugging Face"), table.out.c_str());
}

/// Neither a file's name nor what is in it.
void TestSpanqModels::namesThatAreNoUtf8HideNothing() {
  const fs::path home = m_folder->path().toStdString();
  write(home / "odd\xFFname.gguf", std::string("GGUF\x03\0\0\0", 8));
  const fs::path hostile = SPANSCOPE_GOLDEN_DIR "/../cases/hostile/list-json-not-utf8-1.gguf";
  if (fs::exists(hostile)) fs::copy_file(hostile, home / "hostile.gguf");
  const QByteArray before = qgetenv("LLAMA_CACHE");
  qputenv("LLAMA_CACHE", QByteArray::fromStdString(home.string()));
  const SpanqResult list = spanq({"model", "list", "--json"});
  if (before.isNull())
    qunsetenv("LLAMA_CACHE");
  else
    qputenv("LLAMA_CACHE", before);
  QCOMPARE(list.code, 0);
  std::vector<std::string> names;
  for (const Json& model : Json::parse(list.out)) names.push_back(model["name"].get<std::string>());
  QVERIFY(std::count(names.begin(), names.end(), "odd\uFFFDname") == 1);
  QVERIFY(std::count(names.begin(), names.end(), "spanlet") == 1);
  QVERIFY(!fs::exists(hostile) || std::count(names.begin(), names.end(), "hostile") == 1);
}

void TestSpanqModels::missingDirectories_data() {
  addCommands();
}

void TestSpanqModels::missingDirectories() {
  QFETCH(QStringList, command);
  const SpanqResult missing = spanqWith(command, m_model);
  QCOMPARE(missing.code, 1);
  QVERIFY2(contains(missing.err, m_model.string() + ": <nothing-at-path> Spanscope needs"),
           missing.err.c_str());
  QVERIFY2(!contains(missing.err, "--template"), missing.err.c_str());
  fs::create_directory(m_model);
  const SpanqResult empty = spanqWith(command, m_model);
  QCOMPARE(empty.code, 1);
  QVERIFY2(contains(empty.err, m_model.string() + ": <directory-without-model>"), empty.err.c_str());
}

void TestSpanqModels::ggufFiles_data() {
  addCommands();
}

void TestSpanqModels::ggufFiles() {
  QFETCH(QStringList, command);
  fs::create_directory(m_model);
  const fs::path file = m_model / "model.Q4_K_M.gguf";
  write(file, std::string("GGUF\x03\0\0\0", 8));  // nothing more
  for (const fs::path& given : {file, m_model}) {
    const SpanqResult result = spanqWith(command, given);
    QCOMPARE(result.code, 1);
    QVERIFY2(contains(result.err, file.string() + ": byte 8: "), result.err.c_str());
    // No template would help.
    QVERIFY2(!contains(result.err, "--template"), result.err.c_str());
  }
}

void TestSpanqModels::anUnknownTemplateIsChosen() {
  copyModel();
  patch(m_model / "tokenizer_config.json", {{"chat_template", "x"}});
  const SpanqResult unknown = spanq(run(m_model), R"({"user": "Hello"})");
  QCOMPARE(unknown.code, 1);
  QVERIFY2(contains(unknown.err, "Choose a template: --template NAME"), unknown.err.c_str());
  fs::remove(m_model / "tokenizer_config.json");
  const SpanqResult missing = spanq(run(m_model), R"({"user": "Hello"})");
  QCOMPARE(missing.code, 1);
  QVERIFY2(contains(missing.err, "Choose a template: --template NAME"), missing.err.c_str());
  // No template helps a model that is not computed.
  patch(m_model / "config.json", {{"architectures", {"Qwen3_5ForCausalLM"}}, {"full_attention_interval", 3}});
  const SpanqResult hybrid = spanq(run(m_model), R"({"user": "Hello"})");
  QCOMPARE(hybrid.code, 1);
  QVERIFY2(contains(hybrid.err, "<keeps-running-state> 4 of 6 layers"), hybrid.err.c_str());
  QVERIFY2(!contains(hybrid.err, "--template"), hybrid.err.c_str());
}

void TestSpanqModels::adaptersAreNamedAndCount() {
  const std::string model = std::string(SPANSCOPE_SOURCE_DIR) + "/tests/engine/model/data/bf16_gqa_tied";
  const auto shown = [&](const std::string& adapter) {
    return spanq(adapter.empty()
                     ? std::vector<std::string>{"model", "show", model, "--json"}
                     : std::vector<std::string>{"model", "show", model, "--json", "--adapter", adapter});
  };
  const Json plain = Json::parse(shown("").out);
  const Json adapted = Json::parse(shown(model + "/adapter").out);
  QCOMPARE(adapted["name"].get<std::string>(), std::string("bf16_gqa_tied + adapter"));
  QVERIFY(adapted["fingerprint"] != plain["fingerprint"]);
  QCOMPARE(plain["block_attention"].get<bool>(), false);
  QCOMPARE(adapted["block_attention"].get<bool>(), true);
  const SpanqResult without = spanq({"model", "logits", model, "--ids", "1,2,3"});
  const SpanqResult with =
      spanq({"model", "logits", model, "--ids", "1,2,3", "--adapter", model + "/adapter"});
  QCOMPARE(with.code, 0);
  QVERIFY(without.out != with.out);
  const SpanqResult timed = spanq({"bench", "speed", "--model", model, "--adapter", model + "/adapter", "-p",
                                   "4", "-n", "0", "-r", "1", "--json"});
  QCOMPARE(timed.code, 0);
  QCOMPARE(Json::parse(timed.out)["model"].get<std::string>(), std::string("bf16_gqa_tied + adapter"));
  QCOMPARE(spanq({"bench", "speed", "--shape", "3m", "--adapter", model + "/adapter"}).code, 2);
  const SpanqResult foreign = spanq({"run", "-", "--adapter", model + "/adapter"}, R"({"user": "Hello"})");
  QCOMPARE(foreign.code, 1);
  QVERIFY2(contains(foreign.err, "needs 128 × 128<as-the-model>"), foreign.err.c_str());
}

void TestSpanqModels::endTokensAreNamed() {
  copyModel();
  patch(m_model / "generation_config.json", {{"eos_token_id", {7, 2}}});
  write(m_model / "special_tokens_map.json", R"({"eos_token": {"content": "<|user|>"}})");
  const SpanqResult result = spanq({"model", "show", "--json", m_model.string()});
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json shown = Json::parse(result.out);
  QCOMPARE(shown["end_tokens"].dump(), std::string("[7,2,5]"));
  const Json sources = shown["end_token_sources"];
  QCOMPARE(sources.dump(),
           std::string(R"([{"id":7,"text":"<|end|>","named_by":["config.json","generation_config.json",)"
                       R"("tokenizer_config.json","the chat template"]},)"
                       R"({"id":2,"text":"</s>","named_by":["generation_config.json"]},)"
                       R"({"id":5,"text":"<|user|>","named_by":["special_tokens_map.json"]}])"));
  const std::string text = spanq({"model", "show", m_model.string()}).out;
  QVERIFY2(contains(text,
                    "end tokens              7 <|end|> (config.json, generation_config.json, "
                    "tokenizer_config.json, the chat template)\n"
                    "                          2 </s> (generation_config.json)\n"
                    "                          5 <|user|> (special_tokens_map.json)\n"),
           text.c_str());

  // Without a tokenizer what the model's own files say is all there is.
  fs::remove(m_model / "tokenizer.model");
  const SpanqResult without = spanq({"model", "show", m_model.string()});
  QVERIFY2(without.code == 0, without.err.c_str());
  QVERIFY2(contains(without.out, "end tokens              7 (config.json, generation_config.json)\n"),
           without.out.c_str());
  QVERIFY2(contains(without.out, "<no-tokenizer>"), without.out.c_str());
}

void TestSpanqModels::answersEndAtAnyEndToken_data() {
  QTest::addColumn<bool>("inTokenizer");
  QTest::addColumn<QString>("chatTemplate");
  QTest::newRow("the tokenizer's and the template's") << true << "spanlet";
  QTest::newRow("only the tokenizer's") << true << "";
  QTest::newRow("only the template's") << false << "spanlet";
}

void TestSpanqModels::answersEndAtAnyEndToken() {
  QFETCH(bool, inTokenizer);
  QFETCH(QString, chatTemplate);
  copyModel();
  patch(m_model / "config.json", {{"eos_token_id", nullptr}});
  patch(m_model / "generation_config.json", {{"eos_token_id", nullptr}});
  if (!inTokenizer) patch(m_model / "tokenizer_config.json", {{"eos_token", nullptr}});
  std::vector<std::string> arguments = run(m_model);
  if (!chatTemplate.isEmpty()) {
    arguments.emplace_back("--template");
    arguments.push_back(chatTemplate.toStdString());
  }
  const SpanqResult result = spanq(arguments, R"({"g":{"model":"m","max_tokens":60,"input":{"seq":[
      {"user":"Mira lives in Lisbon."},{"user":"Where does Mira live?"}]}}})");
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json step = Json::parse(result.out)["runs"][0]["steps"][0];
  QCOMPARE(step["outcome"].get<std::string>(), std::string("end_token"));
  QVERIFY(step["generated"].get<int>() < 60);
}

void TestSpanqModels::endTokensOutsideTheVocabulary_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<QByteArray>("fields");
  QTest::addColumn<QString>("place");
  QTest::newRow("config.json") << "config.json" << QByteArray(R"({"eos_token_id": 2048})")
                               << ": /eos_token_id: ";
  QTest::newRow("generation_config.json")
      << "generation_config.json" << QByteArray(R"({"eos_token_id": [7, 5000]})") << ": /eos_token_id/1: ";
  QTest::newRow("tokenizer_config.json")
      << "tokenizer_config.json" << QByteArray(R"({"eos_token": "<|stop|>"})") << ": /eos_token: ";
}

void TestSpanqModels::endTokensOutsideTheVocabulary() {
  QFETCH(QString, file);
  QFETCH(QByteArray, fields);
  QFETCH(QString, place);
  copyModel();
  patch(m_model / file.toStdString(), Json::parse(fields.toStdString()));
  for (const auto& arguments : {run(m_model), {"model", "show", m_model.string()}}) {
    const SpanqResult result = spanq(arguments, R"({"user": "Hello"})");
    QCOMPARE(result.code, 1);
    QVERIFY2(contains(result.err, (m_model / file.toStdString()).string() + ":"), result.err.c_str());
    QVERIFY2(contains(result.err, place.toStdString()), result.err.c_str());
  }
}

void TestSpanqModels::configsOfFewerLayers() {
  copyModel();
  patch(m_model / "config.json", {{"num_hidden_layers", 5}});
  const SpanqResult result = spanq(run(m_model), R"({"user": "Hello"})");
  QCOMPARE(result.code, 1);
  QVERIFY2(contains(result.err, (m_model / "model.safetensors").string() + ": Spanscope found tensors"),
           result.err.c_str());
  QVERIFY2(contains(result.err,
                    R"("model.layers.5.input_layernorm.weight", "model.layers.5.mlp.down_proj.weight", )"),
           result.err.c_str());
  QVERIFY2(contains(result.err, "and 5 more") && contains(result.err, "5 layers"), result.err.c_str());
}

void TestSpanqModels::damagedWeights() {
  copyModel();
  const std::string tensor = "model.layers.3.mlp.up_proj.weight";
  std::string bytes = read(m_model / "model.safetensors");
  const std::size_t begin = extentOf(bytes, tensor).first;
  bytes.replace(begin + 2 * 4321, 2, "\xC0\x7F");
  write(m_model / "model.safetensors", bytes);
  const SpanqResult result = spanq(run(m_model), R"({"user": "Hello"})");
  QCOMPARE(result.code, 1);
  QVERIFY2(contains(result.err, (m_model / "model.safetensors").string() + ": " + tensor +
                                    ": Spanscope found nan at the index 4321, but needs finite numbers"),
           result.err.c_str());
}

/// Every weight is finite here, and no logit is.
void TestSpanqModels::noNumberThatIsNoneIsWritten() {
  copyModel();
  std::string bytes = read(m_model / "model.safetensors");
  const auto [begin, end] = extentOf(bytes, "model.norm.weight");
  for (std::size_t i = begin; i < end; i += 2) bytes.replace(i, 2, "\x7F\x7F");
  write(m_model / "model.safetensors", bytes);
  constexpr int kRefused = 1;
  constexpr int kRunFailed = 3;
  const std::vector<std::pair<std::vector<std::string>, int>> commands = {
      {{"model", "logits", m_model.string(), "--ids", "5,300"}, kRefused}, {run(m_model), kRunFailed}};
  for (const auto& [arguments, code] : commands) {
    const SpanqResult result =
        spanq(arguments, R"({"g":{"model":"m","max_tokens":3,"input":{"user":"Hello"}}})");
    QCOMPARE(result.code, code);
    const std::string all = result.out + result.err;
    QVERIFY2(contains(all, "among the logits") && contains(all, "weights"), all.c_str());
    QVERIFY2(!contains(result.out, "nan,") && !contains(result.out, "inf,"), result.out.c_str());
  }
}

SPANSCOPE_TEST(tst_spanq_models, TestSpanqModels, QCoreApplication)
#include "tst_spanq_models.moc"
