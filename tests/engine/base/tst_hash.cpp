// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/hash.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>
#include <string>

using namespace spanscope;

/// Files, indexes, documents and traces hold these numbers: they stay what they are.
class TestHash : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// The values of xxhsum 0.8 and of xxHash's own test vectors.
  void knownValues() {
    QCOMPARE(hash64(""), std::uint64_t{0x2D06800538D394C2U});
    QCOMPARE(hash128("").hex(), std::string("99aa06d3014798d86001c324468d497f"));
    QCOMPARE(checksum64(std::string_view()), std::uint64_t{0xEF46DB3751D8E999U});
    QCOMPARE(checksum64("", 0x9E3779B1U), std::uint64_t{0xAC75FDA2929B17EFU});
  }

  void bytesAndTextsAgree() {
    const std::string text = "The pet of Tarek is Biscuit.";
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    QCOMPARE(hash128(bytes), hash128(text));
    QCOMPARE(checksum64(bytes, 7), checksum64(text, 7));
  }

  void listsOfFactsDiffer() {
    const auto digest = [](std::initializer_list<std::string_view> facts) {
      Digest all;
      for (const std::string_view fact : facts) all.add(fact);
      return all.value().hex();
    };
    const std::set<std::string> values = {digest({}), digest({""}), digest({"ab"}), digest({"a", "b"}),
                                          digest({"", "ab"})};
    QCOMPARE(values.size(), std::size_t{5});
    QCOMPARE(digest({"a", "b"}), digest({"a", "b"}));
  }

  /// The first outputs of SplitMix64 from 1234567 (the published reference implementation's example).
  void mixing() {
    QCOMPARE(mixBits(1234567), std::uint64_t{6457827717110365317U});
    QCOMPARE(mixBits(1234567 + kGoldenGamma), std::uint64_t{3203168211198807973U});
  }
};

SPANSCOPE_TEST(tst_hash, TestHash)
#include "tst_hash.moc"
