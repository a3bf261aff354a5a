// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/finder/recent_models.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace spanscope::workbench;
using Paths = std::vector<std::filesystem::path>;

class TestRecentModels : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;
  std::filesystem::path m_root;
  std::filesystem::path m_file;

  std::filesystem::path model(const std::string& name) const {
    std::filesystem::create_directory(m_root / name);
    return m_root / name;
  }
  void writeDown(const std::string& text) const { std::ofstream(m_file) << text; }

 private Q_SLOTS:
  void initTestCase() {
    m_root = m_folder.path().toStdString();
    m_file = m_root / "cache" / "recent-models.json";
  }
  void cleanup() { std::filesystem::remove_all(m_file.parent_path()); }

  void theNewestStandsFirst() {
    RecentModels recent(m_file);
    QVERIFY(recent.list().empty());
    recent.note(model("a"));
    recent.note(model("b"));
    recent.note(model("a"));
    QCOMPARE(recent.list(), (Paths{m_root / "a", m_root / "b"}));
    // By whatever way to it.
    recent.note(m_root / "a" / ".." / "b");
    QCOMPARE(recent.list(), (Paths{m_root / "b", m_root / "a"}));
  }

  void otherProgramsShareThem() {
    RecentModels one(m_file);
    RecentModels two(m_file);
    one.note(model("a"));
    two.note(model("b"));
    QCOMPARE(one.list(), (Paths{m_root / "b", m_root / "a"}));
    QCOMPARE(RecentModels(m_file).list(), one.list());
  }

  void theOldestAreForgotten() {
    RecentModels recent(m_file);
    for (std::size_t i = 0; i < RecentModels::kMost + 2; ++i) recent.note(model("m" + std::to_string(i)));
    QCOMPARE(recent.list().size(), RecentModels::kMost);
    QCOMPARE(recent.list().back(), m_root / "m2");
  }

  void whatIsGoneIsNotListed() {
    RecentModels recent(m_file);
    recent.note(model("gone"));
    recent.note(model("here"));
    std::filesystem::remove(m_root / "gone");
    QCOMPARE(recent.list(), (Paths{m_root / "here"}));
    model("gone");  // a disk that was not mounted
    QCOMPARE(recent.list().size(), std::size_t{2});
  }

  void aBrokenFileIsEmpty_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"", "{", "{}", "7", "[1, null, {}]"}) QTest::newRow(text) << text;
  }
  void aBrokenFileIsEmpty() {
    QFETCH(QString, text);
    std::filesystem::create_directories(m_file.parent_path());
    writeDown(text.toStdString());
    RecentModels recent(m_file);
    QVERIFY(recent.list().empty());
    recent.note(model("a"));
    QCOMPARE(recent.list(), (Paths{m_root / "a"}));
  }

  void withoutAFileTheyLastAsLongAsTheProgram() {
    RecentModels recent;
    recent.note(model("a"));
    QCOMPARE(recent.list(), (Paths{m_root / "a"}));
    QVERIFY(RecentModels().list().empty());
    recent.note({});
    QCOMPARE(recent.list().size(), std::size_t{1});
  }
};

SPANSCOPE_TEST(tst_recent_models, TestRecentModels, QCoreApplication)
#include "tst_recent_models.moc"
