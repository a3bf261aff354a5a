// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/hash.h"
#include "tests/support/test_program.h"

#include <QCryptographicHash>
#include <QTest>

#include <string>
#include <string_view>

using namespace spanscope;

namespace {

QByteArray sha256Hex(std::string_view text) {
  const Sha256Value value = sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return QByteArray(reinterpret_cast<const char*>(value.data()), int(value.size())).toHex();
}

}  // namespace

class TestSha256 : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// The example of FIPS 180-2, appendix B.1, and the empty text.
  void examples() {
    QCOMPARE(sha256Hex("abc"),
             QByteArray("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    QCOMPARE(sha256Hex(""), QByteArray("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
  }

  /// Lengths around the ends of blocks: as Qt has them.
  void lengths() {
    std::string text;
    for (int length = 0; length < 200; ++length, text += static_cast<char>('a' + length % 26)) {
      QCOMPARE(sha256Hex(text),
               QCryptographicHash::hash(QByteArray::fromStdString(text), QCryptographicHash::Sha256).toHex());
    }
  }
};

SPANSCOPE_TEST(tst_sha256, TestSha256)
#include "tst_sha256.moc"
