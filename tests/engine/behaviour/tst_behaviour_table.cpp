// SPDX-License-Identifier: GPL-3.0-or-later
// The behaviour table of paged prefix caches, row by row, and the defects of the span patch that is known.
// Every row of the table is a test here or has a reason for being none.
#include "tests/engine/behaviour/table_row.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace spanscope::behaviour;

namespace {

TableRows allRows() {
  TableRows all;
  for (const auto& rows :
       {cacheRows(), spanRows(), poolRows(), keyRows(), figureRows(), requestRows(), defectRows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

/// "A8" of "A8 evict, tails cached", "D copy" of "D copy: a partial hit".
std::string numberOf(const std::string& name) {
  const std::size_t space = name.find(' ');
  if (name.rfind("D ", 0) == 0) return name.substr(0, name.find(':'));
  return name.substr(0, space);
}

/// The numbers of the table.
std::vector<std::string> tableNumbers() {
  std::vector<std::string> numbers;
  const auto add = [&numbers](const char* letter, int last) {
    for (int number = 1; number <= last; ++number) numbers.push_back(letter + std::to_string(number));
  };
  add("A", 28);
  add("B", 15);
  add("C", 8);
  add("S", 12);
  add("D", 7);  // the defects
  // Partial blocks have no numbers there.
  for (const char* name : {"D coarse and fine", "D reachable", "D again", "D longer", "D promotion",
                           "D boundary", "D copy", "D shared"})
    numbers.emplace_back(name);
  return numbers;
}

/// Rows that are no test, each with its reason.
const std::map<std::string, const char*>& excused() {
  static const std::map<std::string, const char*> rows{
      {"A13", "one group of layers: each block has the keys and values of all layers"},
      {"A14", "prompts are text: there are no image spans"},
      {"A22", "there are no adapters; one would be in the fingerprint of every root (B8)"},
      {"A23", "one group of layers, so events have no group"},
      {"A25", "there is no speculative decoding"},
      {"A26", "one size of blocks for all layers"},
      {"B6", "prompts are text: there are no images in extra keys"},
      {"B9", "prompts are tokens: there are no embeddings in place of them"},
  };
  return rows;
}

}  // namespace

class TestBehaviourTable : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyRowIsATestOrHasAReason() {
    std::set<std::string> tested;
    std::set<std::string> names;
    for (const TableRow& row : allRows()) {
      QVERIFY2(names.insert(row.name).second, row.name.c_str());
      tested.insert(numberOf(row.name));
    }
    for (const std::string& number : tableNumbers()) {
      const bool isExcused = excused().contains(number);
      QVERIFY2(tested.contains(number) != isExcused, number.c_str());
      tested.erase(number);
    }
    for (const auto& [number, reason] : excused()) {
      QVERIFY2(std::string(reason).size() > 10, number.c_str());
      const std::vector<std::string> all = tableNumbers();
      QVERIFY2(std::find(all.begin(), all.end(), number) != all.end(), number.c_str());
    }
    QVERIFY2(tested.empty(), tested.empty() ? "" : tested.begin()->c_str());
  }

  void row_data() {
    QTest::addColumn<std::size_t>("index");
    std::size_t index = 0;
    for (const TableRow& row : allRows()) QTest::newRow(row.name.c_str()) << index++;
  }
  void row() {
    QFETCH(std::size_t, index);
    static const TableRows rows = allRows();
    try {
      rows[index].play();
    } catch (const std::exception& error) {
      QFAIL(error.what());
    }
  }
};

SPANSCOPE_TEST(tst_behaviour_table, TestBehaviourTable)
#include "tst_behaviour_table.moc"
