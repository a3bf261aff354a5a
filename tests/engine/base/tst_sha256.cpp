// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/sha256.h"
#include "tests/support/test_program.h"

#include <QCryptographicHash>
#include <QTest>

#include <string>
#include <string_view>

using namespace spanscope;

namespace {

std::span<const std::uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

QByteArray hex(const Sha256Value& value) {
  return QByteArray(reinterpret_cast<const char*>(value.data()), int(value.size())).toHex();
}

Sha256Value hashOf(std::string_view text, std::size_t piece = 1000) {
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += piece) hash.add(bytesOf(text.substr(at, piece)));
  return hash.finish();
}

}  // namespace

class TestSha256 : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// The examples of FIPS 180-4.
  void examples() {
    QCOMPARE(hex(hashOf("")), QByteArray("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    QCOMPARE(hex(hashOf("abc")),
             QByteArray("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    QCOMPARE(hex(hashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
             QByteArray("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
    QCOMPARE(hex(hashOf(std::string(1'000'000, 'a'))),
             QByteArray("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
  }

  /// Lengths around the ends of blocks, in pieces of any size: as QCryptographicHash has them.
  void lengths() {
    std::string text;
    for (int length = 0; length < 200; ++length, text += static_cast<char>('a' + length % 26)) {
      const QByteArray expected =
          QCryptographicHash::hash(QByteArray::fromStdString(text), QCryptographicHash::Sha256).toHex();
      for (const std::size_t piece : {1U, 7U, 64U, 1000U}) QCOMPARE(hex(hashOf(text, piece)), expected);
    }
  }

  /// The cases 1, 2 and 6 of RFC 4231.
  void hmac() {
    const std::string ones(20, '\x0b');
    QCOMPARE(hex(Hmac(bytesOf(ones))(bytesOf("Hi There"))),
             QByteArray("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"));
    QCOMPARE(hex(Hmac(bytesOf("Jefe"))(bytesOf("what do ya want for nothing?"))),
             QByteArray("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
    const std::string longSecret(131, '\xaa');
    QCOMPARE(
        hex(Hmac(bytesOf(longSecret))(bytesOf("Test Using Larger Than Block-Size Key - Hash Key First"))),
        QByteArray("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"));
  }
};

SPANSCOPE_TEST(tst_sha256, TestSha256)
#include "tst_sha256.moc"
