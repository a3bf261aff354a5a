// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/difference.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <random>
#include <string>

using namespace spanscope;

namespace {

std::vector<DifferenceStep> differenceOf(const std::string& left, const std::string& right) {
  return spanscope::differenceOf(left.size(), right.size(),
                                 [&](std::size_t i, std::size_t j) { return left[i] == right[j]; });
}

/// "-a b+c"
QString shown(const std::string& left, const std::string& right) {
  QString text;
  for (const DifferenceStep& step : differenceOf(left, right)) {
    const bool isRight = step.on == StandsOn::Right;
    text += QLatin1Char(step.on == StandsOn::Both ? ' ' : isRight ? '+' : '-');
    text += QLatin1Char(isRight ? right[step.right] : left[step.left]);
  }
  return text;
}

/// The same by definition: the lengths of the longest common parts of all ends, and the path along them that
/// goes on the left first. A common beginning and a common end are taken unchanged.
std::vector<DifferenceStep> byTheBook(std::string left, std::string right) {
  std::size_t tail = 0;
  std::size_t head = 0;
  while (head < left.size() && head < right.size() && left[head] == right[head]) ++head;
  for (; left.size() > head && right.size() > head && left.back() == right.back(); ++tail) {
    left.pop_back();
    right.pop_back();
  }
  const std::size_t width = right.size() + 1;
  std::vector<std::size_t> lengths((left.size() + 1) * width, 0);
  for (std::size_t i = left.size(); i-- > 0;) {
    for (std::size_t j = right.size(); j-- > 0;) {
      lengths[i * width + j] = left[i] == right[j]
                                   ? lengths[(i + 1) * width + j + 1] + 1
                                   : std::max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  std::vector<DifferenceStep> steps;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() && j < right.size()) {
    if (left[i] == right[j])
      steps.push_back({StandsOn::Both, i++, j++});
    else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])
      steps.push_back({StandsOn::Left, i++, 0});
    else
      steps.push_back({StandsOn::Right, 0, j++});
  }
  while (i < left.size()) steps.push_back({StandsOn::Left, i++, 0});
  while (j < right.size()) steps.push_back({StandsOn::Right, 0, j++});
  for (; tail > 0; --tail) steps.push_back({StandsOn::Both, i++, j++});
  return steps;
}

}  // namespace

class TestDifference : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void smallOnes_data() {
    QTest::addColumn<QString>("left");
    QTest::addColumn<QString>("right");
    QTest::addColumn<QString>("steps");
    const auto row = [](const char* name, const char* left, const char* right, const char* steps) {
      QTest::newRow(name) << left << right << steps;
    };
    row("nothing", "", "", "");
    row("same", "abc", "abc", " a b c");
    row("all on the right", "", "ab", "+a+b");
    row("all on the left", "ab", "", "-a-b");
    row("one between", "ac", "abc", " a+b c");
    row("one changed", "abc", "axc", " a-b+x c");
    row("moved", "abc", "bca", "-a b c+a");
    row("nothing in common", "ab", "xyz", "-a-b+x+y+z");
  }
  void smallOnes() {
    QFETCH(QString, left);
    QFETCH(QString, right);
    QFETCH(QString, steps);
    QCOMPARE(shown(left.toStdString(), right.toStdString()), steps);
  }

  /// The search that looks at changes only finds the steps that the whole table gives.
  void randomOnes() {
    constexpr unsigned kSeed = 20;
    qInfo("seed %u", kSeed);
    std::mt19937 random(kSeed);
    for (int round = 0; round < 2000; ++round) {
      const auto letters = 1 + random() % 6;
      const auto text = [&] {
        std::string row(random() % 24, 'a');
        for (char& letter : row) letter = static_cast<char>('a' + random() % letters);
        return row;
      };
      const std::string left = text();
      const std::string right = text();
      QVERIFY2(differenceOf(left, right) == byTheBook(left, right), (left + " | " + right).c_str());
    }
  }

  void muchThatDiffersIsStillTold() {
    const std::string left(5000, 'a');
    const std::string right(5000, 'b');
    const std::vector<DifferenceStep> steps = differenceOf("x" + left, "x" + right);
    QCOMPARE(steps.size(), std::size_t{10001});
    QVERIFY(steps.front().on == StandsOn::Both);
    QVERIFY(std::none_of(steps.begin() + 1, steps.end(),
                         [](const DifferenceStep& step) { return step.on == StandsOn::Both; }));
  }

  /// A long list with a change at either end is no work.
  void farChangesAreFound() {
    std::string left(200'000, 'a');
    std::string right = left;
    right.front() = 'b';
    right.back() = 'c';
    const std::vector<DifferenceStep> steps = differenceOf(left, right);
    QCOMPARE(std::count_if(steps.begin(), steps.end(),
                           [](const DifferenceStep& step) { return step.on != StandsOn::Both; }),
             std::ptrdiff_t{4});
  }
};

SPANSCOPE_TEST(tst_difference, TestDifference)
#include "tst_difference.moc"
