// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "tests/engine/cache/store/store_fixture.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

using namespace spanscope;
using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  ::chmod(path.c_str(), 0600);
}

mode_t modeOf(const fs::path& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 0777U;
}

void setUsed(const fs::path& path, int secondsAgo) {
  const timespec time{::time(nullptr) - secondsAgo, 0};
  const timespec times[2] = {time, time};
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

}  // namespace

class TestDiskStore : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A pack lists its contents: the first words of each chain that begins there.
  void saysWhatPacksHold() {
    const TemporaryStore there;
    std::vector<BlockToKeep> blocks = blocksOf(0, 5);
    blocks[0].text = "Mira lives in Lisbon.";
    blocks[1].text = "Mira plays the cello.";
    blocks[1].facts.parent = blocks[0].facts.name;
    blocks[2].text = "Tarek is a baker.";
    // Many prompts begin like that.
    blocks[3].text = "You are a helpful assistant.";
    blocks[4].text = "Where does Mira live?";
    blocks[4].facts.parent = blocks[3].facts.name;
    blocks[3].facts.base = blocks[4].facts.base = 0;
    std::swap(blocks[0], blocks[3]);
    {
      DiskStore store(there.config());
      QVERIFY(store.put("model=1", "spanlet", kSlotBytes, blocks));
      // Without words, and with more than a user would read.
      QVERIFY(put(store, 10, 2));
      std::vector<BlockToKeep> many = blocksOf(20, 30);
      for (BlockToKeep& block : many) block.text = std::string(50, char('a' + (&block - many.data()) % 26));
      QVERIFY(store.put("model=1", "spanlet", kSlotBytes, many));
    }
    DiskStore store(there.config());
    std::set<std::string> texts;
    for (const PackSummary& pack : store.list()) texts.insert(pack.text);
    QCOMPARE(texts.size(), std::size_t{3});
    QVERIFY(texts.contains("Tarek is a baker. · Mira lives in Lisbon. · Where does Mira live?"));
    QVERIFY(texts.contains(""));
    const std::string& longest = *std::max_element(
        texts.begin(), texts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    QVERIFY(longest.size() > 300 && longest.size() <= 400 + 8);
    QVERIFY(longest.ends_with(" · …"));
    QCOMPARE(look(store, 2), Seen::Right);
  }

  void findsWhatWasStored() {
    const TemporaryStore there;
    {
      DiskStore store(there.config());
      QVERIFY(put(store, 0, 5));
      QCOMPARE(look(store, 3), Seen::Right);
      QVERIFY(store.put("model=1", "spanlet", kSlotBytes, {blockOf(90, 3)}));
    }
    DiskStore store(there.config());
    for (std::uint64_t number = 0; number < 5; ++number) QCOMPARE(look(store, number), Seen::Right);
    QCOMPARE(look(store, 90, 3), Seen::Right);
    QCOMPARE(look(store, 5), Seen::Missing);
    QCOMPARE(store.blocks(), std::uint64_t{6});
    QCOMPARE(store.tokens(), std::uint64_t{83});
    QCOMPARE(store.bytes(), there.bytes());
    QVERIFY(store.takeProblems().empty());
    const std::vector<PackSummary> packs = store.list();
    QCOMPARE(packs.size(), std::size_t{2});
    QCOMPARE(packs[0].model + packs[0].fingerprint, std::string("spanletmodel=1"));
  }

  void storesNothingTwice() {
    const TemporaryStore there;
    DiskStore store(there.config());
    QVERIFY(put(store, 0, 5));
    QVERIFY(put(store, 0, 5));
    QCOMPARE(there.files().size(), std::size_t{1});
    QVERIFY(put(store, 3, 4));
    QCOMPARE(store.blocks(), std::uint64_t{7});
  }

  /// A name alone is not enough.
  void comparesWhatIsAskedFor() {
    const auto refused = [](const ContentName& parent, std::int32_t tokens, std::uint32_t slotBytes) {
      const TemporaryStore there;
      DiskStore store(there.config());
      put(store, 0, 1);
      const bool isMissing = !store.fetch(nameOf(0), parent, tokens, slotBytes);
      return isMissing && store.takeProblems().size() == 1 && there.files().empty();
    };
    const ContentName parent = factsOf(0).parent;
    QVERIFY(!refused(parent, 16, kSlotBytes));
    QVERIFY(refused(nameOf(5), 16, kSlotBytes));
    QVERIFY(refused(parent, 15, kSlotBytes));
    QVERIFY(refused(parent, 16, kSlotBytes + 1));
  }

  /// Every byte that counts, changed: a reported miss, and the file is removed. Padding changes nothing.
  void damageIsAMiss() {
    const TemporaryStore there;
    std::string whole;
    std::string name;
    {
      DiskStore store(there.config());
      put(store, 0, 2);
      whole = read(there.files().front());
      name = there.files().front();
    }
    int missed = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x10);
      write(name, changed);
      DiskStore store(there.config());
      const Seen first = look(store, 0);
      const Seen second = look(store, 1);
      QVERIFY(first != Seen::Wrong && second != Seen::Wrong);
      const bool isMissed = first == Seen::Missing || second == Seen::Missing;
      missed += isMissed ? 1 : 0;
      const bool isOtherVersion = at >= 8 && at < 12;
      if (isOtherVersion) {
        QVERIFY(isMissed && there.files().size() == 1);
      } else {
        QCOMPARE(there.files().empty(), isMissed);
        QCOMPARE(store.takeProblems().empty(), !isMissed);
      }
    }
    // 2 entries of 104 bytes, 2 blocks of 1536, and the head.
    QVERIFY(missed > 2 * 16 * int(kSlotBytes) + 2 * 100);
    for (std::size_t size = 0; size < whole.size(); size += 7) {
      write(name, whole.substr(0, size));
      DiskStore store(there.config());
      QCOMPARE(look(store, 0), Seen::Missing);
      QVERIFY(there.files().empty());
    }
  }

  void verifyFindsDamage() {
    const TemporaryStore there;
    DiskStore store(there.config());
    put(store, 0, 3);
    put(store, 10, 3);
    const fs::path file = there.files().front();
    std::string bytes = read(file);
    bytes[bytes.size() - 1] = static_cast<char>(bytes[bytes.size() - 1] ^ 1);
    write(file, bytes);
    const std::vector<PackSummary> packs = store.verify();
    QCOMPARE(packs.size(), std::size_t{2});
    QCOMPARE(packs[0].damagedBlocks + packs[1].damagedBlocks, std::uint64_t{1});
    QCOMPARE(there.files().size(), std::size_t{1});
    QCOMPARE(store.blocks(), std::uint64_t{3});
  }

  void staysWithinItsBound() {
    const TemporaryStore there;
    constexpr std::uint64_t kLimit = 40'000;
    DiskStore store(there.config(kLimit));
    for (std::uint64_t round = 0; round < 30; ++round) {
      QVERIFY(put(store, round * 10, 1 + round % 7));
      QVERIFY(there.bytes() <= kLimit);
    }
    QVERIFY(there.files().size() > 1);
    QVERIFY(!put(store, 1000, 40));  // more than all of it
    QCOMPARE(store.takeProblems().size(), std::size_t{1});
    QCOMPARE(look(store, 290), Seen::Right);
  }

  void theLeastUsedGoesFirst() {
    const TemporaryStore there;
    DiskStore store(there.config(14'000));
    std::set<fs::path> before;
    for (std::uint64_t round = 0; round < 3; ++round) {
      QVERIFY(put(store, round * 10, 2));
      for (const fs::path& file : there.files()) {
        if (before.insert(file).second) setUsed(file, 100 - 10 * int(round));
      }
    }
    QCOMPARE(look(store, 0), Seen::Right);  // used last from here on
    QVERIFY(put(store, 100, 2));
    QVERIFY(put(store, 110, 2));
    QCOMPARE(look(store, 0), Seen::Right);
    QCOMPARE(look(store, 10), Seen::Missing);
    QCOMPARE(look(store, 110), Seen::Right);
  }

  void othersSeeWhatIsStoredAndRemoved() {
    const TemporaryStore there;
    DiskStore one(there.config());
    DiskStore other(there.config());
    QVERIFY(put(one, 0, 2));
    QCOMPARE(look(other, 0), Seen::Missing);
    other.refresh();
    QCOMPARE(look(other, 0), Seen::Right);
    QCOMPARE(one.clear(), std::size_t{1});
    // What is mapped can be read on; what is not is gone.
    DiskStore third(there.config());
    QCOMPARE(look(third, 0), Seen::Missing);
    QTest::qSleep(60);
    put(one, 10, 1);
    other.refresh();
    QCOMPARE(look(other, 0), Seen::Missing);
    QCOMPARE(look(other, 10), Seen::Right);
    QVERIFY(other.takeProblems().empty());
  }

  void aPackThatOthersRemovedIsAMiss() {
    const TemporaryStore there;
    {
      DiskStore maker(there.config());
      QVERIFY(put(maker, 0, 2));
    }
    DiskStore store(there.config());
    fs::remove(there.files().front());
    QVERIFY(store.find(nameOf(0)).has_value());
    QCOMPARE(look(store, 0), Seen::Missing);
    QVERIFY(!store.find(nameOf(0)).has_value());
    QVERIFY(store.takeProblems().empty());
  }

  void clearsOneModel() {
    const TemporaryStore there;
    DiskStore store(there.config());
    QVERIFY(put(store, 0, 2));
    QVERIFY(store.put("model=2", "other", kSlotBytes, blocksOf(10, 2)));
    QCOMPARE(store.clear("other"), std::size_t{1});
    QCOMPARE(look(store, 0), Seen::Right);
    QCOMPARE(look(store, 10), Seen::Missing);
  }

  void isForItsOwnerAlone() {
    const TemporaryStore there;
    {
      DiskStore store(there.config());
      QVERIFY(put(store, 0, 2));
    }
    QCOMPARE(modeOf(there.folder()), mode_t{0700});
    QCOMPARE(modeOf(there.folder() / "packs"), mode_t{0700});
    for (const char* name : {"secret", "store", "lock"})
      QCOMPARE(modeOf(there.folder() / name), mode_t{0600});
    QCOMPARE(modeOf(there.files().front()), mode_t{0600});

    const auto refuses = [&](const char* what) {
      try {
        const DiskStore store(there.config());
      } catch (const Failure& failure) {
        return std::string(failure.what()).find(what) != std::string::npos;
      }
      return false;
    };
    ::chmod(there.folder().c_str(), 0750);
    QVERIFY(refuses("permissions 750"));
    ::chmod(there.folder().c_str(), 0700);
    ::chmod((there.folder() / "packs").c_str(), 0701);
    QVERIFY(refuses("permissions 701"));
    ::chmod((there.folder() / "packs").c_str(), 0700);
    ::chmod((there.folder() / "secret").c_str(), 0640);
    QVERIFY(refuses("permissions 640"));
    ::chmod((there.folder() / "secret").c_str(), 0600);

    // A pack that others may write is not read, and not removed either.
    ::chmod(there.files().front().c_str(), 0620);
    DiskStore store(there.config());
    QCOMPARE(look(store, 0), Seen::Missing);
    QCOMPARE(there.files().size(), std::size_t{1});
    // Nor is one that a link leads to.
    ::chmod(there.files().front().c_str(), 0600);
    const fs::path elsewhere = there.folder().parent_path() / "elsewhere.pack";
    fs::rename(there.files().front(), elsewhere);
    fs::create_symlink(elsewhere, there.folder() / "packs" / "link.pack");
    DiskStore again(there.config());
    QCOMPARE(look(again, 0), Seen::Missing);
  }

  void refusesFoldersThatAreNoStore() {
    const TemporaryStore there;
    fs::create_directories(there.folder());
    ::chmod(there.folder().c_str(), 0700);
    write(there.folder() / "letter.txt", "text");
    QVERIFY_EXCEPTION_THROWN(DiskStore(there.config()), Failure);
    QVERIFY(!fs::exists(there.folder() / "secret"));
    fs::remove(there.folder() / "letter.txt");
    QVERIFY(!StoreFolder::isThere(there.folder()));
    { const DiskStore store(there.config()); }
    QVERIFY(StoreFolder::isThere(there.folder()));
    write(there.folder() / "store", "Spanscope span store 2\n");
    QVERIFY_EXCEPTION_THROWN(DiskStore(there.config()), Failure);
    const fs::path file = there.folder().parent_path() / "file";
    write(file, "");
    QVERIFY_EXCEPTION_THROWN(DiskStore({.folder = file, .limit = 1000}), Failure);
  }

  void manyOpenItAtOnce() {
    const TemporaryStore there;
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (std::uint64_t thread = 0; thread < 6; ++thread) {
      threads.emplace_back([&, thread] {
        DiskStore store(there.config());
        if (put(store, thread * 10, 3) && look(store, thread * 10) == Seen::Right) ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(right.load(), 6);
    DiskStore store(there.config());
    for (std::uint64_t thread = 0; thread < 6; ++thread) QCOMPARE(look(store, thread * 10 + 2), Seen::Right);
  }
};

SPANSCOPE_TEST(tst_disk_store, TestDiskStore)
#include "tst_disk_store.moc"
