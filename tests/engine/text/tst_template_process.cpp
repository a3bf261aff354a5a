// SPDX-License-Identifier: GPL-3.0-or-later
// Templates rendered by Jinja: as transformers renders them, and without harm from templates that never end.
#include "engine/base/hash.h"
#include "engine/text/template_process.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QRegularExpression>
#include <QTest>

#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <thread>

using namespace spanscope;
using namespace spanscope::text;
using namespace spanscope::text::test;
using spanscope::product_text::worded;

namespace {

using Json = nlohmann::ordered_json;
using Result = std::variant<std::vector<Rendering>, Error>;

const TemplateConversation kHello{.messages = {{"user", "Hello"}}};

/// The one text of a result; otherwise the reason.
std::string textOf(const Result& result) {
  if (const auto* error = std::get_if<Error>(&result)) return "error: " + error->message();
  const Rendering& rendering = std::get<std::vector<Rendering>>(result).front();
  if (rendering.isText()) return rendering.text;
  return (rendering.outcome == Rendering::Outcome::Raised ? "raised: " : "failed: ") + rendering.text;
}

const Json& golden() {
  static const Json json =
      Json::parse(readFile(std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "renderings.json"));
  return json;
}

std::string contentsOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

}  // namespace

class TestTemplateProcess : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void likeTransformers_data();
  void likeTransformers();
  void variables();
  void faults_data();
  void faults();
  void withoutBound_data();
  void withoutBound();
  void isKeptAndStartedAgain();
  void isSeparated();
  void canBeStopped();
  void isMissing();

 private:
  std::string render(const std::string& source, const std::string& variables = "{}") {
    return textOf(m_process.render(source, variables, {&kHello, 1}));
  }

  TemplateProcess m_process;
};

void TestTemplateProcess::initTestCase() {
  const std::string text = render("{{ messages[0].content }}");
  if (m_process.isMissing()) QSKIP("the Debian package python3-jinja2 is not here");
  QCOMPARE(text, std::string("Hello"));
}

void TestTemplateProcess::likeTransformers_data() {
  QTest::addColumn<QString>("name");
  for (const auto& [name, hashes] : golden()["templates"].items())
    QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestTemplateProcess::likeTransformers() {
  QFETCH(QString, name);
  const std::filesystem::path path =
      std::filesystem::path(SPANSCOPE_GOLDEN_DIR) / "../cases/templates" / (name.toStdString() + ".jinja");
  if (!std::filesystem::exists(path)) QSKIP("the real templates are not here");
  const std::string source = readFile(path);
  QCOMPARE(golden()["now"].get<std::string>(), std::string(kTemplateDate));
  const Json& conversations = golden()["conversations"];
  const Json& hashes = golden()["templates"][name.toStdString()];
  QCOMPARE(hashes.size(), conversations.size());
  for (std::size_t i = 0; i < conversations.size(); ++i) {
    TemplateConversation conversation;
    for (const Json& message : conversations[i]["messages"])
      conversation.messages.push_back({.role = "", .content = "", .fields = message.dump()});
    Json variables = conversations[i]["variables"];
    conversation.generationPrompt = variables["add_generation_prompt"].get<bool>();
    variables.erase("add_generation_prompt");
    const Result result = m_process.render(source, variables.dump(), {&conversation, 1});
    const auto* renderings = std::get_if<std::vector<Rendering>>(&result);
    const bool isText = renderings != nullptr && renderings->front().isText();
    const std::string found =
        isText ? QString::number(hash64(renderings->front().text), 16).rightJustified(16, '0').toStdString()
               : std::string();
    const std::string expected = hashes[i].is_null() ? std::string() : hashes[i].get<std::string>();
    QVERIFY2(found == expected, (conversations[i].dump() + "\n" + textOf(result)).c_str());
  }
}

void TestTemplateProcess::variables() {
  QCOMPARE(render("{{ bos_token }}{{ tools | tojson }}{{ add_generation_prompt }}",
                  R"({"bos_token": "<s>", "tools": [{"z": 1, "a": {"y": "<é>", "b": null}}]})"),
           std::string(R"(<s>[{"z": 1, "a": {"y": "<é>", "b": null}}]True)"));
  QCOMPARE(render("{{ tools }}{{ documents }}{{ unknown }}"), std::string("NoneNone"));
  QCOMPARE(render("{{ strftime_now('%d %b %Y') }}"), std::string("26 Jul 2024"));
  const TemplateConversation thinking{
      .messages = {{"assistant", "a", R"({"reasoning": "because", "name": null})"}}};
  QCOMPARE(textOf(m_process.render("{{ messages[0].reasoning_content }} {{ 'name' in messages[0] }}", "{}",
                                   {&thinking, 1})),
           std::string("because False"));
}

void TestTemplateProcess::faults_data() {
  QTest::addColumn<QByteArray>("source");
  QTest::addColumn<QByteArray>("variables");
  QTest::addColumn<QString>("start");
  QTest::newRow("raised") << QByteArray("{{ raise_exception('after you') }}") << QByteArray("{}")
                          << "raised: after you";
  QTest::newRow("undefined") << QByteArray("{{ a.b.c }}") << QByteArray("{}") << "failed: UndefinedError";
  QTest::newRow("no Jinja") << QByteArray("{% if %}") << QByteArray("{}")
                            << "error: chat template: Spanscope found Temp";
  QTest::newRow("variables, no JSON") << QByteArray("x") << QByteArray("{") << "error: ";
  QTest::newRow("variables, a list") << QByteArray("x") << QByteArray("[1]") << "error: ";
  QTest::newRow("recursion") << QByteArray("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}")
                             << QByteArray("{}") << "failed: RecursionError";
  QTest::newRow("the insides of Python")
      << QByteArray("{{ cycler.__init__.__globals__.os.popen('id').read() }}") << QByteArray("{}")
      << "failed: SecurityError";
}

void TestTemplateProcess::faults() {
  QFETCH(QByteArray, source);
  QFETCH(QByteArray, variables);
  QFETCH(QString, start);
  const std::string text = render(source.toStdString(), variables.toStdString());
  QVERIFY2(QString::fromStdString(text).startsWith(start), text.c_str());
  QCOMPARE(render("still {{ messages[0].content }}"), std::string("still Hello"));
}

void TestTemplateProcess::withoutBound_data() {
  QTest::addColumn<QByteArray>("source");
  const auto loops = [](const char* inner) {
    return QByteArray("{% for i in range(99999) %}{% for j in range(99999) %}") + inner +
           "{% endfor %}{% endfor %}";
  };
  QTest::newRow("a loop without end") << loops("");
  QTest::newRow("text without end") << loops("{{ 'a' * 1000 }}");
  QTest::newRow("1 GB in one text") << QByteArray("{{ 'a' * 1000000000 }}");
  QTest::newRow("1 GB of lists") << QByteArray("{{ ([0] * 200000000) | length }}");
  QTest::newRow("a number without end") << QByteArray("{{ 9 ** (9 ** 9) }}");
}

void TestTemplateProcess::withoutBound() {
  QFETCH(QByteArray, source);
  QCOMPARE(render("warm"), std::string("warm"));
  QElapsedTimer timer;
  timer.start();
  const std::string text = render(source.toStdString());
  QVERIFY2(timer.elapsed() < 2000, std::to_string(timer.elapsed()).c_str());
  QVERIFY2(text.starts_with("error: "), text.substr(0, 200).c_str());
  QCOMPARE(render("next"), std::string("next"));
}

void TestTemplateProcess::isKeptAndStartedAgain() {
  render("x");
  const int first = m_process.processNumber();
  QVERIFY(first > 0);
  render("y");
  QCOMPARE(m_process.processNumber(), first);
  QCOMPARE(kill(first, SIGKILL), 0);
  QCOMPARE(render("z"), std::string("z"));
  QVERIFY(m_process.processNumber() != first);
}

void TestTemplateProcess::isSeparated() {
  render("x");
  const QString folder = QStringLiteral("/proc/%1/").arg(m_process.processNumber());
  const std::string limits = contentsOf(folder + "limits");
  const auto isZero = [&limits](const char* name) {
    return QRegularExpression(QLatin1String(name) + " +0 +0 ")
        .match(QString::fromStdString(limits))
        .hasMatch();
  };
  QVERIFY2(isZero("Max open files"), limits.c_str());
  QVERIFY2(isZero("Max file size"), limits.c_str());
  const std::string status = contentsOf(folder + "status");
  QVERIFY2(status.find("NoNewPrivs:\t1") != std::string::npos, status.c_str());
#if defined(__x86_64__) || defined(__aarch64__)
  QVERIFY2(status.find("Seccomp:\t2") != std::string::npos, status.c_str());
#endif
  const std::string environment = contentsOf(folder + "environ");
  QVERIFY2(environment.find("HOME=") == std::string::npos, environment.c_str());
}

void TestTemplateProcess::canBeStopped() {
  render("x");
  std::stop_source source;
  std::jthread later([&source] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    source.request_stop();
  });
  QElapsedTimer timer;
  timer.start();
  const Result result =
      m_process.render("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "{}",
                       {&kHello, 1}, source.get_token());
  QVERIFY(std::holds_alternative<Error>(result));
  QVERIFY2(timer.elapsed() < 1000, std::to_string(timer.elapsed()).c_str());
}

void TestTemplateProcess::isMissing() {
  qputenv(kPythonVariable, "/bin/false");
  TemplateProcess process;
  const Result result = process.render("x", "{}", {&kHello, 1});
  qunsetenv(kPythonVariable);
  QVERIFY(process.isMissing());
  QCOMPARE(std::get<Error>(result).expected, worded(std::string("<install-jinja>")));
  QVERIFY(std::get<Error>(result).found.find("/bin/false") != std::string::npos);
}

SPANSCOPE_TEST(tst_template_process, TestTemplateProcess)
#include "tst_template_process.moc"
