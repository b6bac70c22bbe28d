require 'x'
module Outer
  class Foo < Bar
    attr_reader :a
    def initialize(a, b = 1)
      @a = a unless b && a
    end
    def self.build(x) = new(x)
    private
    def secret; run; end
    public
    def run
      [1].each do |i|
        puts "run #{run}" if i
      end
    end
    private def other; end
  end
end
Outer::Foo.build(1).run
