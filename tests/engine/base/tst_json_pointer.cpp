// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>

using namespace spanscope;

class TestJsonPointer : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The names are those of RFC 6901, section 5.
  void steps_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("step");
    QTest::newRow("plain") << QByteArray("foo") << QByteArray("/foo");
    QTest::newRow("empty") << QByteArray() << QByteArray("/");
    QTest::newRow("slash") << QByteArray("a/b") << QByteArray("/a~1b");
    QTest::newRow("tilde") << QByteArray("m~n") << QByteArray("/m~0n");
    QTest::newRow("both, in this order") << QByteArray("~1/") << QByteArray("/~01~1");
    QTest::newRow("what else is special in JSON") << QByteArray("k\"l\\ %") << QByteArray("/k\"l\\ %");
  }
  void steps() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, step);
    QCOMPARE(QByteArray::fromStdString(pointerStep(name.toStdString())), step);
  }
};

SPANSCOPE_TEST(tst_json_pointer, TestJsonPointer)
#include "tst_json_pointer.moc"
