// SPDX-License-Identifier: GPL-3.0-or-later
// Compares copies of shared containers with copies of std containers, under random changes.
#include "engine/base/shared.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>
#include <random>
#include <string>
#include <vector>

using spanscope::Shared;
using spanscope::SharedList;
using spanscope::SharedMap;
using spanscope::SharedVector;

namespace {

constexpr unsigned kSeed = 20260;

template <class Value>
std::map<int, Value> contentOf(const SharedMap<int, Value>& map) {
  std::map<int, Value> content;
  for (const auto& [key, value] : map) content.emplace(key, value);
  return content;
}

}  // namespace

class TestSharedContainers : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void mapCopiesKeepTheirValues() {
    qInfo("seed %u", kSeed);
    std::mt19937 random(kSeed);
    SharedMap<int, std::string> map;
    std::map<int, std::string> expected;
    std::vector<std::pair<SharedMap<int, std::string>, std::map<int, std::string>>> copies;
    for (int step = 0; step < 2000; ++step) {
      const int key = static_cast<int>(random() % 60);
      if (random() % 10 == 0) {
        copies.emplace_back(map, expected);
      } else if (random() % 3 == 0) {
        map.set(key, std::to_string(step));
        expected[key] = std::to_string(step);
      } else {
        map.edit(key) += "x";
        expected[key] += "x";
      }
    }
    QCOMPARE(contentOf(map), expected);
    for (const auto& [copy, content] : copies) QCOMPARE(contentOf(copy), content);
  }

  /// Many chunks, filled from the front, from the back and in any order; the chunks contain small values.
  void largeMapsKeepTheirOrder_data() {
    QTest::addColumn<int>("way");
    QTest::newRow("ascending") << 0;
    QTest::newRow("descending") << 1;
    QTest::newRow("anyhow") << 2;
  }
  void largeMapsKeepTheirOrder() {
    QFETCH(int, way);
    std::mt19937 random(kSeed);
    SharedMap<int, int> map;
    std::map<int, int> expected;
    std::vector<std::pair<SharedMap<int, int>, std::map<int, int>>> copies;
    for (int i = 0; i < 1000; ++i) {
      const int key = way == 0 ? i : way == 1 ? -i : static_cast<int>(random() % 5000);
      map.edit(key) += i;
      expected[key] += i;
      if (i % 100 == 0) copies.emplace_back(map, expected);
    }
    copies.emplace_back(map, expected);
    for (const auto& [copy, content] : copies) {
      QCOMPARE(contentOf(copy), content);
      QCOMPARE(copy.size(), content.size());
    }
    for (int key = -1001; key < 5001; key += 7) {
      const auto place = map.lower_bound(key);
      const auto known = expected.lower_bound(key);
      QCOMPARE(place == map.end(), known == expected.end());
      if (known != expected.end()) QCOMPARE(place->first, known->first);
      QCOMPARE(map.contains(key), expected.count(key) == 1);
    }
    auto back = map.rbegin();
    for (auto entry = expected.rbegin(); entry != expected.rend(); ++entry, ++back) {
      QCOMPARE(back->first, entry->first);
    }
    QVERIFY(back == map.rend());
  }

  void changesOfAMapAreFound() {
    SharedMap<int, std::string> before;
    for (int key = 0; key < 1000; ++key) before.set(key, "a");
    SharedMap<int, std::string> map = before;
    QCOMPARE(map.bytesBeside(SharedMap<int, std::string>()),
             before.bytesBeside(SharedMap<int, std::string>()));
    const std::size_t least = map.bytesBeside(before);
    map.edit(500) = "b";
    map.set(2000, "c");
    std::map<int, std::string> changes;
    map.visitChanges(before, [&](int key, const std::string& value) { changes.emplace(key, value); });
    QCOMPARE(changes, (std::map<int, std::string>{{500, "b"}, {2000, "c"}}));
    QVERIFY(map.bytesBeside(before) > least);
    QVERIFY(map.bytesBeside(before) < map.bytesBeside(SharedMap<int, std::string>()) / 4);
  }

  void sharedValuesAreCopiedByPointer() {
    const Shared<std::string> none;
    QVERIFY(none->empty());
    const Shared<std::string> one = std::string("text");
    const Shared<std::string> copy = one;
    QVERIFY(copy.isCopyOf(one));
    QCOMPARE(&*copy, &*one);
    const Shared<std::string> other = std::string("text");
    QVERIFY(!other.isCopyOf(one));
    QVERIFY(other == one);
    QVERIFY(!(none == one));
    const SharedList<int> list{1, 2, 3};
    const SharedList<int> same = list;
    QCOMPARE(&same[1], &list[1]);
    QCOMPARE(same.size(), std::size_t(3));
    QCOMPARE(std::vector<int>(same.begin(), same.end()), (std::vector<int>{1, 2, 3}));
    QVERIFY(SharedList<int>().empty());
  }

  void mapIsReadLikeAStandardOne() {
    SharedMap<int, std::string> map;
    for (const int key : {5, 1, 3}) map.set(key, std::to_string(key));
    QCOMPARE(map.size(), std::size_t(3));
    QVERIFY(map.contains(3));
    QVERIFY(map.find(2) == map.end());
    QVERIFY(map.find(6) == map.end());
    QCOMPARE(map.find(3)->second, std::string("3"));
    QCOMPARE(map.at(5), std::string("5"));
    QVERIFY_EXCEPTION_THROWN(map.at(4), std::out_of_range);
    std::string keys;
    for (auto entry = map.rbegin(); entry != map.rend(); ++entry) keys += std::to_string(entry->first);
    QCOMPARE(keys, std::string("531"));
  }

  void mapsShareAndCompareByValue() {
    SharedMap<int, std::string> one;
    one.set(1, "a");
    SharedMap<int, std::string> other;
    other.set(1, "a");
    QVERIFY(one == other);
    other.edit(1) = "b";
    QVERIFY(!(one == other));
    one = other;
    QVERIFY(one == other);
    QCOMPARE(&one.at(1), &other.at(1));
    one.edit(1) = "c";
    QCOMPARE(other.at(1), std::string("b"));
  }

  void vectorCopiesKeepTheirElements() {
    std::mt19937 random(kSeed);
    for (const std::size_t size :
         {std::size_t(0), std::size_t(1), std::size_t(64), std::size_t(65), std::size_t(1000)}) {
      std::vector<int> expected(size);
      for (int& value : expected) value = static_cast<int>(random() % 100);
      SharedVector<int> list(expected);
      QCOMPARE(list.size(), size);
      QCOMPARE(list.values(), expected);
      std::vector<std::pair<SharedVector<int>, std::vector<int>>> copies;
      for (int step = 0; size > 0 && step < 300; ++step) {
        if (random() % 10 == 0) copies.emplace_back(list, expected);
        const std::size_t index = random() % size;
        list.edit(index) = step;
        expected[index] = step;
      }
      QCOMPARE(list.values(), expected);
      for (const auto& [copy, content] : copies) QCOMPARE(copy.values(), content);
    }
  }
};

SPANSCOPE_TEST(tst_shared_containers, TestSharedContainers)
#include "tst_shared_containers.moc"
