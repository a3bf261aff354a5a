// SPDX-License-Identifier: GPL-3.0-or-later
// Documents on the command line: what is muted, frozen and declared in them, and values for their parameters.
#include "engine/base/hash.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QObject>
#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using namespace spanscope::test;
using spanscope::product_text::says;
using spanscope::product_text::worded;
using Json = nlohmann::ordered_json;

class TestSpanqDocuments : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void runsWithDefaults();
  void valuesComeBeforeDefaults_data();
  void valuesComeBeforeDefaults();
  void wrongValues_data();
  void wrongValues();
  void validateListsParameters();
  void explainListsParameters();
  void mutedAndFrozenAreTakenOut();
  void missingInputIsAnError();
  void nothingToGenerateIsSaid();
  void validateSaysWhatTheWindowSays_data();
  void validateSaysWhatTheWindowSays();
  void validateRefusesWhatARunRefuses_data();
  void validateRefusesWhatARunRefuses();
  void validateAcceptsWhatARunTakes_data();
  void validateAcceptsWhatARunTakes();
  void mistakesHaveTheirPlace_data();
  void mistakesHaveTheirPlace();
  void wrongValuesAreRefusedAlike_data();
  void wrongValuesAreRefusedAlike();
  void pinnedPassagesComeFirst();
  void pinsFollowTheirAugment();
  void unusedSettingIsWarnedOf();
  void runsWithItsSettings();
  void optionsComeBeforeSettings();
  void eachDocumentHasItsOwn();
  void oneModelAndCacheForAll();
  void explainsWithItsSettings();
  void noDocumentHasTextsSent();
  void acceptedModelsAreNotWarnedOf();

 private:
  std::string write(const std::string& text, const QString& name = QStringLiteral("query.span"));
  QTemporaryDir m_folder;
};

namespace {

/// A person of the bundled model's world: name and number of questions are parameters.
const std::string kQuery =
    R"({"g": {"model": "spnl/spanlet", "max_tokens": "{most}", "temperature": 0, "input":
    {"cross": [{"system": "You are a helpful assistant. Answer from the documents."},
               {"plus": [{"user": "Mira lives in Lisbon."}, {"user": "Otto lives in Oslo."}]},
               {"user": "Where does {who} live?"}]}}})";

std::string documentWith(const std::string& query, const std::string& parameters,
                         const std::string& layout = "{}") {
  return "{\"spanscope\": {\"version\": 1},\n \"query\": " + query + ",\n \"layout\": " + layout +
         ",\n \"parameters\": " + parameters + "}";
}

const std::string kDeclared =
    R"({"who": {"default": "Mira", "description": "whose home is asked for"},
        "most": {"type": "count", "default": "40"}})";

std::string settled(const std::string& settings, const std::string& query = kQuery) {
  std::string text = documentWith(query, query == kQuery ? kDeclared : "{}");
  text.back() = ',';
  return text + "\n \"settings\": " + settings + "}";
}

}  // namespace

std::string TestSpanqDocuments::write(const std::string& text, const QString& name) {
  const std::string path = m_folder.filePath(name).toStdString();
  std::ofstream(path) << text;
  return path;
}

void TestSpanqDocuments::runsWithDefaults() {
  const SpanqResult result = spanq({"run", write(documentWith(kQuery, kDeclared))});
  QVERIFY2(result.code == 0, result.err.c_str());
  QCOMPARE(QString::fromStdString(result.out).section('\n', 0, 0), QString("Mira lives in Lisbon."));
  QVERIFY(result.err.empty());
}

void TestSpanqDocuments::valuesComeBeforeDefaults_data() {
  QTest::addColumn<QString>("parameters");
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QString>("question");
  const QString declared = QString::fromStdString(kDeclared);
  const QString valued = R"({"who": {"default": "Mira", "value": "Otto"}, "most": "40"})";
  QTest::newRow("the default") << declared << QStringList{} << "Where does Mira live?";
  QTest::newRow("a value of the document") << valued << QStringList{} << "Where does Otto live?";
  QTest::newRow("the command line") << valued << QStringList{"--set", "who=Nadia"}
                                    << "Where does Nadia live?";
  QTest::newRow("an empty one") << declared << QStringList{"--set", "who="} << "Where does  live?";
  QTest::newRow("as before there were declarations")
      << R"({"who": "Otto", "most": "40"})" << QStringList{} << "Where does Otto live?";
}

void TestSpanqDocuments::valuesComeBeforeDefaults() {
  QFETCH(QString, parameters);
  QFETCH(QStringList, options);
  QFETCH(QString, question);
  std::vector<std::string> words = {"export", "--to", "spnl",
                                    write(documentWith(kQuery, parameters.toStdString()))};
  for (const QString& word : options) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words);
  QVERIFY2(result.code == 0, result.err.c_str());
  QVERIFY2(QString::fromStdString(result.out).contains(question), result.out.c_str());
  QVERIFY(result.out.find("\"max_tokens\":40") != std::string::npos);
}

void TestSpanqDocuments::wrongValues_data() {
  QTest::addColumn<QString>("parameters");
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QString>("message");
  const QString declared = QString::fromStdString(kDeclared);
  QTest::newRow("no number") << declared << QStringList{"--set", "most=many"}
                             << "the value \"many\" for the parameter \"most\", but needs ";
  QTest::newRow("no value") << R"({"who": "Otto"})" << QStringList{}
                            << "the parameter \"most\" without a value";
  QTest::newRow("no such type") << R"({"most": {"type": "integer"}})" << QStringList{}
                                << "Spanscope found \"integer\", but needs \"text\" or ";
  QTest::newRow("a wrong default") << R"({"most": {"default": "many"}})" << QStringList{} << "\"many\"";
  QTest::newRow("a type for a text") << R"({"most": "4", "who": {"type": "count"}})"
                                     << QStringList{"--set", "who=Mira"}
                                     << "the value \"Mira\" for the parameter \"who\", …0 to 255";
}

void TestSpanqDocuments::wrongValues() {
  QFETCH(QString, parameters);
  QFETCH(QStringList, options);
  QFETCH(QString, message);
  std::vector<std::string> words = {"run", write(documentWith(kQuery, parameters.toStdString()))};
  for (const QString& word : options) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, 1);
  QVERIFY2(says(result.err, message), result.err.c_str());
  QVERIFY(result.out.empty());
}

void TestSpanqDocuments::validateListsParameters() {
  const std::string path = write(documentWith(kQuery, kDeclared));
  const SpanqResult result = spanq({"validate", "--parameters", path});
  QCOMPARE(result.code, 0);
  QCOMPARE(QString::fromStdString(result.out),
           QString::fromStdString(path) +
               ": fine\n"
               "  {most}: count, by default 40, at /g/max_tokens\n"
               "  {who}: text, by default Mira, at /g/input/cross/2/user (whose home is asked for)\n");
  const SpanqResult wrong =
      spanq({"validate", write(documentWith(kQuery, R"({"most": {"type": "count", "value": "300"}})"))});
  QCOMPARE(wrong.code, 1);
  QVERIFY2(wrong.err.find("\"300\"") != std::string::npos, wrong.err.c_str());
}

void TestSpanqDocuments::explainListsParameters() {
  const std::string path = write(documentWith(kQuery, kDeclared));
  const SpanqResult text = spanq({"explain", "--set", "who=Otto", path});
  QVERIFY2(text.code == 0, text.err.c_str());
  QVERIFY2(text.out.find("Parameters\n  {most}  count  40 (default)") == 0, text.out.c_str());
  QVERIFY(text.out.find("{who}   text   Otto (given)  whose home is asked for\n") != std::string::npos);
  const Json json = Json::parse(spanq({"explain", "--json", path}).out);
  QCOMPARE(json["parameters"].size(), std::size_t{2});
  QCOMPARE(json["parameters"][1]["value"].get<std::string>(), std::string("Mira"));
  QCOMPARE(json["parameters"][1]["from"].get<std::string>(), std::string("default"));
}

void TestSpanqDocuments::mutedAndFrozenAreTakenOut() {
  const std::string query = R"({"g": {"model": "m", "input": {"cross": [{"user": "kept"}, {"user": "muted"},
      {"g": {"model": "m", "input": {"user": "not asked again"}}}]}}})";
  const std::string layout = R"({"nodes": {"/g/input/cross/1": {"muted": true},
      "/g/input/cross/2": {"frozen": "what it said"}}})";
  const SpanqResult result = spanq({"export", "--to", "spnl", write(documentWith(query, "{}", layout))});
  QVERIFY2(result.code == 0, result.err.c_str());
  QVERIFY(result.out.find(R"("cross":[{"user":"kept"},{"assistant":"what it said"}])") != std::string::npos);
}

void TestSpanqDocuments::missingInputIsAnError() {
  const std::string layout = R"({"nodes": {"/g/input": {"missing": true}}})";
  const std::string path =
      write(documentWith(R"({"g": {"model": "m", "input": {"seq": []}}})", "{}", layout));
  for (const char* command : {"explain", "run"}) {
    const SpanqResult result = spanq({command, path});
    QCOMPARE(result.code, 1);
    QVERIFY2(says(result.err, "<node-lacks-input>"), result.err.c_str());
  }
}

/// The window refuses to run it; here it is said, and nothing is generated.
void TestSpanqDocuments::nothingToGenerateIsSaid() {
  const std::string path = write(documentWith(R"({"user": "a"})", "{}", "{}"));
  const SpanqResult result = spanq({"run", path});
  QCOMPARE(result.code, 0);
  QVERIFY2(QString::fromStdString(result.err)
               .contains(QString::fromStdString(path) +
                         worded(": warning: <nothing-to-generate>. <nothing-to-generate-hint>\n")),
           result.err.c_str());
}

/// The window's list of problems, at the place of each problem. "§" is before the place.
void TestSpanqDocuments::validateSaysWhatTheWindowSays_data() {
  QTest::addColumn<QString>("query");
  QTest::addColumn<QString>("layout");
  QTest::addColumn<QString>("message");
  QTest::newRow("missing input")
      << QStringLiteral(R"({"cross": [§{"g": {"model": "", "input": {"seq": []}}}]})")
      << QStringLiteral(R"({"nodes": {"/cross/0/g/input": {"missing": true}}})")
      << QStringLiteral("/query/cross/0: The generate has no input. Connect a node");
  QTest::newRow("a file that is not there")
      << QStringLiteral(R"({"g": {"model": "", "input": §{"file": "none.txt"}}})") << QStringLiteral("{}")
      << QStringLiteral("/query/g/input: Spanscope found the file \"none.txt\" <cannot-opened>");
  QTest::newRow("nothing to generate")
      << QStringLiteral(R"(§{"user": "a"})") << QStringLiteral("{}")
      << QStringLiteral("/query: <nothing-to-generate>. <nothing-to-generate-hint>");
}

void TestSpanqDocuments::validateSaysWhatTheWindowSays() {
  QFETCH(QString, query);
  QFETCH(QString, layout);
  QFETCH(QString, message);
  QString text = QString::fromStdString(documentWith(query.toStdString(), "{}", layout.toStdString()));
  const QStringList before = text.section(QString::fromUtf8("§"), 0, 0).split('\n');
  text.remove(QString::fromUtf8("§"));
  const std::string path = write(text.toStdString());
  const SpanqResult result = spanq({"validate", path});
  QCOMPARE(result.code, 1);
  const QString expected = QStringLiteral("%1:%2:%3: %4")
                               .arg(QString::fromStdString(path))
                               .arg(before.size())
                               .arg(before.last().size() + 1)
                               .arg(worded(message));
  QVERIFY2(QString::fromStdString(result.err).startsWith(expected),
           qPrintable(expected + "\n" + QString::fromStdString(result.err)));
}

/// Both count the chat template, and say the same of the model and of the pool.
void TestSpanqDocuments::validateRefusesWhatARunRefuses_data() {
  QTest::addColumn<QString>("settings");
  QTest::addColumn<int>("words");
  QTest::addColumn<int>("needed");
  QTest::newRow("longer than the context") << QStringLiteral("{}") << 33000 << 0;
  QTest::newRow("a pool that is too small") << QStringLiteral(R"({"blocks": 20})") << 400 << 1;
  QTest::newRow("no model there") << QStringLiteral(R"({"model": "/nowhere/at/all"})") << 4 << 0;
  QTest::newRow("no such device") << QStringLiteral(R"({"device": "cuda:41"})") << 4 << 0;
}

void TestSpanqDocuments::validateRefusesWhatARunRefuses() {
  QFETCH(QString, settings);
  QFETCH(int, words);
  QFETCH(int, needed);
  const auto written = [&](const QString& with) {
    std::string text;
    for (int i = 0; i < words; ++i) text += " a";
    return write(settled(with.toStdString(),
                         R"({"g": {"model": "", "max_tokens": 3, "input": {"user": ")" + text + R"("}}})"));
  };
  const SpanqResult validated = spanq({"validate", written(settings)});
  QCOMPARE(validated.code, 1);
  QVERIFY2(validated.out.empty() && !validated.err.empty(), validated.out.c_str());
  QVERIFY(spanq({"run", written(settings)}).code != 0);
  if (needed == 0) return;
  // The fix is enough, and one block less is not.
  const QRegularExpressionMatch fix =
      QRegularExpression(QStringLiteral("(\\d+) blocks\\.?\\s*$")).match(QString::fromStdString(validated.err));
  QVERIFY2(fix.hasMatch(), validated.err.c_str());
  const int blocks = fix.captured(1).toInt();
  for (const int given : {blocks, blocks - 1}) {
    const std::string path = written(QStringLiteral(R"({"blocks": %1})").arg(given));
    QCOMPARE(spanq({"validate", path}).code, given == blocks ? 0 : 1);
    QCOMPARE(spanq({"run", path}).code == 0, given == blocks);
  }
}

void TestSpanqDocuments::validateAcceptsWhatARunTakes_data() {
  QTest::addColumn<QString>("settings");
  // What the model here is and holds is nothing to a server.
  QTest::newRow("on a server") << QStringLiteral(
      R"({"server": "gpu-3", "model": "/nowhere/at/all", "blocks": 2, "policy": "prefix"})");
  QTest::newRow("here") << QStringLiteral(R"({"stands_for": "org/large"})");
}

void TestSpanqDocuments::validateAcceptsWhatARunTakes() {
  QFETCH(QString, settings);
  const SpanqResult result =
      spanq({"validate",
             write(settled(
                 settings.toStdString(),
                 R"({"g": {"model": "org/large", "input": {"plus": [{"user": "a"}, {"user": "b"}]}}})"))});
  QCOMPARE(result.err, std::string());
  QCOMPARE(result.code, 0);
}

/// "§" in the document marks the named place, and is removed.
void TestSpanqDocuments::mistakesHaveTheirPlace_data() {
  QTest::addColumn<QString>("query");
  QTest::addColumn<QString>("parameters");
  QTest::addColumn<QString>("layout");
  QTest::addColumn<QString>("message");
  const auto row = [](const char* name, const char* query, const char* parameters, const char* layout,
                      const char* message) {
    QTest::newRow(name) << QString::fromUtf8(query) << QString::fromUtf8(parameters)
                        << QString::fromUtf8(layout) << QString::fromUtf8(message);
  };
  row("no text", R"({"user": §1})", "{}", "{}", "/query/user: Spanscope found the number 1");
  row("unknown node", R"({"seq": [{"user": "a"},
      {§"usr": "b"}]})",
      "{}", "{}", "/query/seq/1/usr: Spanscope found the unknown operator \"usr\"");
  row("unknown type", R"({"user": "{n}"})", R"({"n": {"type": §"integer"}})", "{}",
      "/parameters/n/type: Spanscope found \"integer\"");
  row("looks of the wrong kind", R"({"user": "a"})", "{}", R"({"nodes": {"": {"muted": §1}}})",
      "/layout/nodes//muted: Spanscope found ");
  row("number without a value", R"({"cross": [{"user": "a"},
      §{"g": {"model": "m", "max_tokens": "{n}", "input": {"user": "b"}}}]})",
      "{}", "{}", "/query/cross/1/g/max_tokens: Spanscope found the parameter \"n\" without a value");
  row("after what is muted", R"({"cross": [{"user": "muted"},
      §{"g": {"model": "m", "max_tokens": "{n}", "input": {"user": "b"}}}]})",
      R"({"n": "many"})", R"({"nodes": {"/cross/0": {"muted": true}}})",
      "/query/cross/1/g/max_tokens: Spanscope found the value \"many\" for the parameter \"n\"");
  row("default of the wrong type", R"({"g": {"model": "m", "input": §{"user": "{n} cats"}}})",
      R"({"n": {"type": "count", "default": "many"}})", "{}",
      "/query/g/input/user: Spanscope found the default \"many\" for the parameter \"n\"");
  row("missing input", R"({"cross": [§{"g": {"model": "m", "input": {"seq": []}}}]})", "{}",
      R"({"nodes": {"/cross/0/g/input": {"missing": true}}})",
      "/query/cross/0: Spanscope found <node-lacks-input>");
  row("muted input", R"({"cross": [{"user": "muted"}, §{"g": {"model": "m", "input": {"user": "a"}}}]})",
      "{}", R"({"nodes": {"/cross/0": {"muted": true}, "/cross/1/g/input": {"muted": true}}})",
      "/query/cross/1: Spanscope found <node-lacks-input>");
  row("file that is not there", R"({"g": {"model": "m", "input": §{"file": "none.txt"}}})", "{}", "{}",
      "/query/g/input");
  row("document that is not there", R"({"g": {"model": "m", "input":
      §{"augment": {"embedding_model": "", "body": {"user": "q"}, "doc": ["none.txt", {"Text": ""}]}}}})",
      "{}", "{}", "/query/g/input");
}

void TestSpanqDocuments::mistakesHaveTheirPlace() {
  QFETCH(QString, query);
  QFETCH(QString, parameters);
  QFETCH(QString, layout);
  QFETCH(QString, message);
  QString text = QString::fromStdString(
      documentWith(query.toStdString(), parameters.toStdString(), layout.toStdString()));
  const QStringList before = text.section(QString::fromUtf8("§"), 0, 0).split('\n');
  text.remove(QString::fromUtf8("§"));
  const std::string path = write(text.toStdString());
  const QString expected = QStringLiteral("%1:%2:%3: %4")
                               .arg(QString::fromStdString(path))
                               .arg(before.size())
                               .arg(before.last().size() + 1)
                               .arg(worded(message));
  for (const char* command : {"explain", "run"}) {
    const SpanqResult result = spanq({command, path});
    QCOMPARE(result.code, 1);
    // Advice may come before it.
    const QStringList said = QString::fromStdString(result.err).split('\n');
    const bool isSaid = std::any_of(said.begin(), said.end(),
                                    [&expected](const QString& line) { return line.startsWith(expected); });
    QVERIFY2(isSaid, qPrintable(expected + "\n" + said.join('\n')));
  }
}

void TestSpanqDocuments::wrongValuesAreRefusedAlike_data() {
  QTest::addColumn<QString>("parameters");
  QTest::addColumn<QStringList>("options");
  const QString declared = R"({"most": "40", "who": {"type": "count"}})";
  QTest::newRow("given") << declared << QStringList{"--set", "who=Mira"};
  QTest::newRow("of a number") << declared << QStringList{"--set", "most=many"};
  QTest::newRow("of the document") << R"({"most": "40", "who": {"type": "count", "value": "Mira"}})"
                                   << QStringList{};
  QTest::newRow("a default") << R"({"most": "40", "who": {"type": "count", "default": "Mira"}})"
                             << QStringList{};
}

/// Nothing is done with a value that is not of the declared type, whatever the command.
void TestSpanqDocuments::wrongValuesAreRefusedAlike() {
  QFETCH(QString, parameters);
  QFETCH(QStringList, options);
  const std::string path = write(documentWith(kQuery, parameters.toStdString()));
  std::string words;
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"run"}, {"explain"}, {"explain", "--predict"}, {"export", "--to", "spnl"}}) {
    std::vector<std::string> arguments = command;
    for (const QString& word : options) arguments.push_back(word.toStdString());
    arguments.push_back(path);
    const SpanqResult result = spanq(arguments);
    QCOMPARE(result.code, 1);
    QVERIFY(result.out.empty());
    QVERIFY(result.err.find(" for the parameter ") != std::string::npos);
    if (words.empty()) words = result.err;
    QCOMPARE(QString::fromStdString(result.err), QString::fromStdString(words));
  }
}

namespace {

const std::string kAugment =
    R"({"augment": {"embedding_model": "", "body": {"user": "Where does Mira live?"}, "doc": ["people.csv",
        {"Text": "Mira lives in Lisbon.\nOtto lives in Porto.\nTarek is a baker."}]}})";

std::string augmented(const std::string& beside = {}) {
  return R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "input": {"cross": [)" + beside + kAugment +
         R"(, {"user": "Where does Mira live?"}]}}})";
}

std::string marked(const std::string& path, const char* mark, const std::string& text) {
  return "\"" + path + R"(": {")" + mark + R"(": [")" + spanscope::hash128(text).hex() + "\"]}";
}

/// The passages of the one augment, in the order of the prompt.
QStringList passagesIn(const SpanqResult& exported) {
  QStringList texts;
  const Json query = Json::parse(exported.out);
  for (const Json& child : query["g"]["input"]["cross"]) {
    if (!child.contains("plus")) continue;
    for (const Json& passage : child["plus"])
      texts += QString::fromStdString(passage["user"].get<std::string>());
  }
  return texts;
}

}  // namespace

void TestSpanqDocuments::pinnedPassagesComeFirst() {
  const auto found = [this](const std::string& looks, const std::string& most) {
    const SpanqResult result =
        spanq({"export", "--to", "spnl", "--retrieve", "--passages", most,
               write(documentWith(augmented(), "{}", "{\"nodes\": {" + looks + "}}"))});
    if (result.code != 0) return QStringList{QString::fromStdString(result.err)};
    return passagesIn(result);
  };
  const std::string path = "/g/input/cross/0";
  QCOMPARE(found("", "1"), QStringList{"Mira lives in Lisbon."});
  QCOMPARE(found(marked(path, "dropped", "Mira lives in Lisbon."), "1"), QStringList{"Otto lives in Porto."});
  QCOMPARE(found(marked(path, "pinned", "Tarek is a baker."), "2"),
           (QStringList{"Tarek is a baker.", "Mira lives in Lisbon."}));
}

/// Every command that plans finds an augment anywhere in the query.
void TestSpanqDocuments::pinsFollowTheirAugment() {
  const std::string looks =
      R"("/g/input/cross/0": {"muted": true}, )" + marked("/g/input/cross/1", "pinned", "Tarek is a baker.");
  const std::string path =
      write(documentWith(augmented(R"({"user": "muted"}, )"), "{}", "{\"nodes\": {" + looks + "}}"));
  const SpanqResult exported = spanq({"export", "--to", "spnl", "--retrieve", "--passages", "1", path});
  QVERIFY2(exported.code == 0, exported.err.c_str());
  QCOMPARE(passagesIn(exported), QStringList{"Tarek is a baker."});
  const SpanqResult explained = spanq({"explain", "--json", "--passages", "1", path});
  QVERIFY2(explained.code == 0, explained.err.c_str());
  const std::string prompt = Json::parse(explained.out)["steps"][0]["prompt"].dump();
  QVERIFY2(prompt.find("Tarek is a baker.") != std::string::npos, prompt.c_str());
  QVERIFY(prompt.find("Lisbon") == std::string::npos);
}

void TestSpanqDocuments::unusedSettingIsWarnedOf() {
  const SpanqResult result = spanq({"explain", "--set", "whom=Otto", write(documentWith(kQuery, kDeclared))});
  QCOMPARE(result.code, 0);
  QVERIFY2(result.err.find("Did you mean \"who\"?") != std::string::npos, result.err.c_str());
}

void TestSpanqDocuments::runsWithItsSettings() {
  const std::string path = write(settled(
      R"j({"policy": "link(4)", "prompt_layout": "padded", "seed": 9, "block_size": 8, "blocks": 40,
           "kv_type": "bf16", "device": "cpu"})j"));
  const std::string trace = m_folder.filePath("run.trace").toStdString();
  const SpanqResult result = spanq({"run", "--json", "--trace", trace, path});
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json json = Json::parse(result.out);
  QCOMPARE(json["policy"].get<std::string>(), std::string("link(4)"));
  QCOMPARE(json["layout"].get<std::string>(), std::string("padded"));
  QCOMPARE(json["seed"].get<int>(), 9);
  const std::string begun = spanq({"trace", "show", "--only", "session_started", trace}).out;
  QVERIFY2(begun.find("40 blocks of 8 tokens") != std::string::npos, begun.c_str());
}

void TestSpanqDocuments::optionsComeBeforeSettings() {
  const std::string path = write(settled(R"j({"policy": "link(4)", "seed": 9, "blocks": 2})j"));
  // The pool of the document is too small for its prompt.
  const SpanqResult own = spanq({"run", path});
  QCOMPARE(own.code, 3);
  const SpanqResult result =
      spanq({"run", "--json", "--policy", "prefix", "--blocks", "64", "--seed", "0", path});
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json json = Json::parse(result.out);
  QCOMPARE(json["policy"].get<std::string>(), std::string("prefix"));
  QCOMPARE(json["seed"].get<int>(), 0);
}

void TestSpanqDocuments::eachDocumentHasItsOwn() {
  const std::string first = write(settled(R"({"policy": "prefix"})"), QStringLiteral("first.span"));
  const std::string second = write(settled(R"({"seed": 4})"), QStringLiteral("second.span"));
  const SpanqResult result = spanq({"run", "--json", first, second});
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json json = Json::parse(result.out);
  QVERIFY(!json.contains("policy"));
  QCOMPARE(json["runs"][0]["settings"]["policy"].get<std::string>(), std::string("prefix"));
  QCOMPARE(json["runs"][1]["settings"]["policy"].get<std::string>(), std::string("spans"));
  QCOMPARE(json["runs"][1]["settings"]["seed"].get<int>(), 4);
}

void TestSpanqDocuments::oneModelAndCacheForAll() {
  const std::string first = write(settled(R"({"block_size": 8})"), QStringLiteral("first.span"));
  const std::string second = write(settled(R"({"block_size": 4})"), QStringLiteral("second.span"));
  const SpanqResult refused = spanq({"run", first, second});
  QCOMPARE(refused.code, 1);
  QVERIFY2(refused.err.find("settings, block_size: Spanscope found 4, but needs 8") != std::string::npos,
           refused.err.c_str());
  QVERIFY2(refused.err.find("--block-size") != std::string::npos, refused.err.c_str());
  QCOMPARE(spanq({"run", "--block-size", "16", first, second}).code, 0);
}

void TestSpanqDocuments::explainsWithItsSettings() {
  const std::string nested =
      R"({"g": {"model": "spanlet", "input": {"plus": [{"g": {"model": "spanlet", "input": {"user": "a"}}}]}}})";
  const SpanqResult usual = spanq({"explain", write(settled("{}", nested))});
  const std::string path = write(settled(R"({"distribute": false})", nested));
  const SpanqResult own = spanq({"explain", path});
  QCOMPARE(own.code, 0);
  QVERIFY(own.out != usual.out);
  QCOMPARE(own.out, spanq({"explain", "--no-distribute", write(settled("{}", nested))}).out);
}

void TestSpanqDocuments::noDocumentHasTextsSent() {
  const std::string augment =
      R"({"g": {"model": "spanlet", "input": {"augment": {"embedding_model": "e", "body": {"user": "Where?"},
          "doc": ["people.csv", {"Text": "Mira lives in Lisbon."}]}}}})";
  const std::string path = write(settled(
      R"({"embeddings": "server", "embeddings_url": "http://127.0.0.1:9/v1", "embeddings_model": "e"})",
      augment));
  const SpanqResult refused = spanq({"run", path});
  QCOMPARE(refused.code, 1);
  QVERIFY2(says(refused.err, "<vectors-server> \"http://127.0.0.1:9/v1\""), refused.err.c_str());
  const SpanqResult words = spanq({"run", "--rank", "lexical", path});
  QVERIFY2(words.code == 0, words.err.c_str());
}

void TestSpanqDocuments::acceptedModelsAreNotWarnedOf() {
  const std::string other = R"({"g": {"model": "llama", "input": {"user": "Where does Mira live?"}}})";
  QVERIFY(says(spanq({"run", write(settled("{}", other))}).err, "<asks-model> llama"));
  QCOMPARE(spanq({"run", write(settled(R"({"stands_for": "llama"})", other))}).err, std::string());
}

SPANSCOPE_TEST(tst_spanq_documents, TestSpanqDocuments, QCoreApplication)
#include "tst_spanq_documents.moc"
