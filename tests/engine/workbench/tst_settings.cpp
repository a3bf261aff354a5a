// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/run_options.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/settings.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::workbench;

namespace {

/// The settings that the command line leaves to the window, where they are chosen otherwise or mean nothing.
const std::set<std::string_view> kOfTheWindow = {"observe",    "every_token", "kept_mib",
                                                 "embeddings", "stands_for",  "server"};

document::OpenedDocument opened(const std::string& settings) {
  return document::readDocument(R"({"spanscope": {"version": 1}, "query": {"user": "a"}, "settings": )" +
                                settings + "}");
}

/// Another value than the default, which documents may have.
struct ChangeOf {
  const Setting& setting;
  RunSettings& settings;

  void operator()(std::string RunSettings::*member) const {
    settings.*member = setting.choices == nullptr ? "/some text" : setting.choices().back().name;
  }
  void operator()(bool RunSettings::*member) const { settings.*member = !(settings.*member); }
  void operator()(std::vector<std::int32_t> RunSettings::*member) const { settings.*member = {1, 3}; }
  void operator()(std::uint64_t RunSettings::*member) const { settings.*member = ~std::uint64_t{0}; }
  template <class Whole>
  void operator()(Whole RunSettings::*member) const {
    settings.*member = static_cast<Whole>(setting.range.most);
  }
};

RunSettings changed(const Setting& setting) {
  RunSettings settings;
  std::visit(ChangeOf{setting, settings}, setting.member);
  return settings;
}

bool isWhole(const Setting& setting) {
  return std::holds_alternative<std::int32_t RunSettings::*>(setting.member) ||
         std::holds_alternative<std::uint32_t RunSettings::*>(setting.member);
}

bool isList(const Setting& setting) {
  return std::holds_alternative<std::vector<std::int32_t> RunSettings::*>(setting.member);
}

bool isAny(const Setting&) {
  return true;
}

void addSettings(bool (*isWanted)(const Setting&) = isAny) {
  QTest::addColumn<const Setting*>("setting");
  for (const Setting& setting : runSettings()) {
    if (isWanted(setting)) QTest::newRow(std::string(setting.key).c_str()) << &setting;
  }
}

}  // namespace

Q_DECLARE_METATYPE(const Setting*)

class TestSettings : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void earlierNamesAreRead() {
    const document::OpenedDocument read = opened(R"({"output_form": "anew"})");
    QVERIFY(read.document && read.diagnostics.empty());
    QCOMPARE(read.document->settings.outputForm, std::string("recomputed"));
    QVERIFY(!opened(R"({"output_form": "new"})").diagnostics.empty());
  }
  void namesAreTheirOwn();
  void aDeviceMayHaveANumber();
  void goesThroughDocuments_data() { addSettings(); }
  void goesThroughDocuments();
  void hasLimits_data() {
    addSettings([](const Setting& setting) { return isWhole(setting) || isList(setting); });
  }
  void hasLimits();
  void choicesAreChecked_data() {
    addSettings([](const Setting& setting) { return setting.choices != nullptr; });
  }
  void choicesAreChecked();
  void defaultsAreAllowed_data() { addSettings(); }
  void defaultsAreAllowed();
  void hasWords_data() { addSettings(); }
  void hasWords();
  void identity_data() { addSettings(); }
  void identity();
  void theBundledModelHasOneIdentity();
  void optionsStayWithinDocuments();
};

void TestSettings::namesAreTheirOwn() {
  std::set<std::string> seen;
  for (const Setting& setting : runSettings()) {
    QVERIFY2(seen.insert("key " + std::string(setting.key)).second, setting.name);
    QVERIFY2(seen.insert("name " + std::string(setting.name)).second, setting.name);
    if (*setting.option.name != '\0')
      QVERIFY2(seen.insert("option " + std::string(setting.option.name)).second, setting.name);
    QCOMPARE(findSetting(setting.key), &setting);
  }
  QVERIFY(findSetting("other") == nullptr);
}

void TestSettings::goesThroughDocuments() {
  QFETCH(const Setting*, setting);
  document::Document document = *opened("{}").document;
  const std::string usual = document::writeDocument(document);
  const std::string field = "\"" + std::string(setting->key) + "\":";
  QCOMPARE(usual.find(field) == std::string::npos, setting->onlyWhereChosen);
  document.settings = changed(*setting);
  QVERIFY(document.settings != RunSettings());
  const std::string text = document::writeDocument(document);
  QVERIFY(text.find(field) != std::string::npos);
  const document::OpenedDocument again = document::readDocument(text);
  QVERIFY(again.document && again.diagnostics.empty());
  QVERIFY(again.document->settings == document.settings);
  QCOMPARE(document::writeDocument(*again.document), text);
}

void TestSettings::hasLimits() {
  QFETCH(const Setting*, setting);
  const WholeRange range = setting->range;
  const auto read = [&](std::int64_t value) {
    const std::string number = std::to_string(value);
    return opened("{\"" + std::string(setting->key) +
                  "\": " + (isList(*setting) ? "[" + number + "]" : number) + "}");
  };
  for (const std::int64_t value : {range.least, range.most}) {
    const document::OpenedDocument within = read(value);
    QVERIFY(within.document && within.diagnostics.empty());
  }
  for (const std::int64_t value : {range.least - 1, range.most + 1}) {
    const document::OpenedDocument beyond = read(value);
    QVERIFY(!beyond.document);
    QCOMPARE(beyond.diagnostics.size(), std::size_t{1});
    QCOMPARE(beyond.diagnostics.front().found, "the number " + std::to_string(value));
    const std::string& expected = beyond.diagnostics.front().expected;
    QVERIFY2(
        expected.find(std::to_string(range.least) + " to " + std::to_string(range.most)) != std::string::npos,
        expected.c_str());
    QCOMPARE(beyond.diagnostics.front().pointer,
             "/settings/" + std::string(setting->key) + (isList(*setting) ? "/0" : ""));
  }
}

void TestSettings::choicesAreChecked() {
  QFETCH(const Setting*, setting);
  std::string expected;
  for (const Choice& choice : setting->choices())
    expected += (expected.empty() ? "\"" : " or \"") + choice.name + "\"";
  const document::OpenedDocument other = opened("{\"" + std::string(setting->key) + "\": \"other\"}");
  QVERIFY(!other.document);
  QCOMPARE(other.diagnostics.front().found, std::string("\"other\""));
  QCOMPARE(other.diagnostics.front().expected, expected);
}

void TestSettings::defaultsAreAllowed() {
  QFETCH(const Setting*, setting);
  const RunSettings usual;
  if (setting->choices != nullptr) {
    const auto member = std::get<std::string RunSettings::*>(setting->member);
    QCOMPARE(usual.*member, setting->choices().front().name);
  }
  std::visit(
      [&](auto member) {
        if constexpr (std::is_integral_v<std::remove_reference_t<decltype(RunSettings().*member)>>) {
          if (isWhole(*setting)) {
            QVERIFY(static_cast<std::int64_t>(usual.*member) >= setting->range.least);
            QVERIFY(static_cast<std::int64_t>(usual.*member) <= setting->range.most);
          }
        }
      },
      setting->member);
}

void TestSettings::hasWords() {
  QFETCH(const Setting*, setting);
  QVERIFY(*setting->row.label != '\0');
  QCOMPARE(*setting->option.name == '\0', kOfTheWindow.contains(setting->key));
  QCOMPARE(*setting->option.name == '\0', *setting->option.help == '\0');
  if (*setting->option.needs == '\0') return;
  const auto hasIt = [setting](const Setting& other) {
    return std::string_view(other.option.name) == setting->option.needs;
  };
  QVERIFY(std::any_of(runSettings().begin(), runSettings().end(), hasIt));
}

void TestSettings::identity() {
  QFETCH(const Setting*, setting);
  const RunSettings usual;
  const RunSettings other = changed(*setting);
  const bool isOfModel = setting->effect == SettingEffect::Model;
  const bool isOfSession = isOfModel || setting->effect == SettingEffect::Session;
  QCOMPARE(modelIdentityOf(other) != modelIdentityOf(usual), isOfModel);
  QCOMPARE(sessionIdentityOf(other) != sessionIdentityOf(usual), isOfSession);
  // The identity says all that a session is made with.
  const run::SessionConfig a = sessionConfigOf(usual);
  const run::SessionConfig b = sessionConfigOf(other);
  const bool isSameConfig = a.blockSize == b.blockSize && a.blockCount == b.blockCount &&
                            a.kvType == b.kvType && a.store.hostBytes == b.store.hostBytes &&
                            a.store.diskBytes == b.store.diskBytes && a.store.folder == b.store.folder;
  QCOMPARE(isSameConfig, setting->effect != SettingEffect::Session);
  static const std::set<std::string_view> kOfSessions = {
      "model",  "adapter",    "chat_template",      "context",       "device",
      "exact",  "arithmetic", "template_variables", "threads",       "block_size",
      "blocks", "kv_type",    "cache_host_mib",     "cache_disk_mib"};
  QCOMPARE(isOfSession, kOfSessions.contains(setting->key));
}

/// How many cards there are is known to the machine alone.
void TestSettings::aDeviceMayHaveANumber() {
  const document::OpenedDocument second = opened(R"({"device": "cuda:1"})");
  QVERIFY(second.document.has_value());
  QCOMPARE(second.document->settings.device, std::string("cuda:1"));
  for (const char* name : {"cuda:", "cuda:x", "cuda:1234", "cpu:1", "auto:0", "card:1"})
    QVERIFY2(!opened(R"({"device": ")" + std::string(name) + R"("})").diagnostics.empty(), name);
}

void TestSettings::theBundledModelHasOneIdentity() {
  RunSettings named;
  named.model = modelDirectoryOf({}).string();
  QVERIFY(named != RunSettings());
  QVERIFY(sessionIdentityOf(named) == sessionIdentityOf({}));
}

void TestSettings::optionsStayWithinDocuments() {
  // What one takes, all take; only what is off, or as usual, is said in more than one way.
  const std::set<std::string_view> known = {"blocks", "locality"};
  for (const Setting& setting : runSettings()) {
    QCOMPARE(setting.option.range || setting.row.range, known.contains(setting.key));
    for (const auto& range : {setting.option.range, setting.row.range}) {
      if (!range) continue;
      QCOMPARE(range->most, setting.range.most);
      QVERIFY(range->least >= setting.range.least);
    }
  }
}

SPANSCOPE_TEST(tst_settings, TestSettings)
#include "tst_settings.moc"
