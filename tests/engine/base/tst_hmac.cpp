// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/hash.h"
#include "tests/support/test_program.h"

#include <QMessageAuthenticationCode>
#include <QTest>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace spanscope;

namespace {

std::span<const std::uint8_t> bytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

QByteArray hex(const Sha256Value& value) {
  return QByteArray(reinterpret_cast<const char*>(value.data()), int(value.size())).toHex();
}

QByteArray expectedOf(const std::string& text, const std::string& secret) {
  return QMessageAuthenticationCode::hash(QByteArray::fromStdString(text), QByteArray::fromStdString(secret),
                                          QCryptographicHash::Sha256)
      .toHex();
}

}  // namespace

class TestHmac : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// The cases 1, 2 and 6 of RFC 4231.
  void examples() {
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

  /// Lengths around the ends of blocks, of texts and of secrets, the empty ones too: as Qt has them.
  void lengths() {
    std::string text;
    for (int length = 0; length < 200; ++length, text += static_cast<char>('a' + length % 26)) {
      QCOMPARE(hex(Hmac(bytesOf("a secret"))(bytesOf(text))), expectedOf(text, "a secret"));
      QCOMPARE(hex(Hmac(bytesOf(text))(bytesOf("a text"))), expectedOf("a text", text));
    }
  }

  /// One secret, many texts, copies and threads.
  void oneServesManyTexts() {
    const Hmac hmac(bytesOf("shared"));
    const Hmac copy = hmac;
    std::vector<QByteArray> found(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < found.size(); ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 500; ++round)
          found[i] = hex((i % 2 == 0 ? hmac : copy)(bytesOf("text " + std::to_string(i))));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < found.size(); ++i)
      QCOMPARE(found[i], expectedOf("text " + std::to_string(i), "shared"));
  }
};

SPANSCOPE_TEST(tst_hmac, TestHmac)
#include "tst_hmac.moc"
